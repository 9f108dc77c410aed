// Writes runs in the form of Claude Code's `stream-json`, for texts and sizes that no recording has.
//
// Out: records as lines. Times, ids and order depend on the arguments only, so that a run looks the same each time.
let sessions = 0;

export class ClaudeRun {
  /** With `at`, records have times from then on, in milliseconds since the epoch. */
  constructor({ session = uuid(0xc1a0de, ++sessions), model = 'claude-test-1', at } = {}) {
    this.at = at;
    this.session = session;
    this.model = model;
    this.count = 0;
    this.message = 0;
  }

  record(fields) {
    this.count += 1;
    const time = this.at && { timestamp: new Date(this.at + this.count * 1300).toISOString() };
    return `${JSON.stringify({ ...fields, session_id: this.session, uuid: uuid(0xabc, this.count), ...time })}\n`;
  }

  begin() {
    return this.record({ type: 'system', subtype: 'init', cwd: '/workspace', tools: ['Bash', 'Edit'], mcp_servers: [], model: this.model });
  }

  prompt(text) {
    return this.record({ type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null });
  }

  /** A whole message. */
  say(...content) {
    return this.within(null, ...content);
  }

  within(parent, ...content) {
    this.message += 1;
    const message = { id: `msg_${this.message}`, type: 'message', role: 'assistant', model: this.model };
    const usage = { input_tokens: 10, output_tokens: 2 };
    const blocks = content.map((block) => (typeof block === 'string' ? { type: 'text', text: block } : block));
    return this.record({ type: 'assistant', message: { ...message, content: blocks, usage }, parent_tool_use_id: parent });
  }

  event(event) {
    return this.record({ type: 'stream_event', event, parent_tool_use_id: null });
  }

  /** A text in pieces: an array of lines of output, one record each. */
  pieces(texts) {
    this.message += 1;
    const id = `msg_${this.message}`;
    const message = { id, type: 'message', role: 'assistant', model: this.model, content: [] };
    const usage = { input_tokens: 10, output_tokens: 2 };
    return [
      this.event({ type: 'message_start', message: { ...message, usage } }),
      this.event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...texts.map((text) => this.event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      this.record({ type: 'assistant', message: { ...message, content: [{ type: 'text', text: texts.join('') }], usage }, parent_tool_use_id: null }),
      this.event({ type: 'content_block_stop', index: 0 }),
      this.event({ type: 'message_stop' }),
    ];
  }

  call(id, name, input, parent = null) {
    return this.within(parent, { type: 'tool_use', id, name, input });
  }

  result(id, content, { extra, isError = false, parent = null } = {}) {
    const block = { type: 'tool_result', tool_use_id: id, content, is_error: isError };
    return this.record({
      type: 'user',
      message: { role: 'user', content: [block] },
      parent_tool_use_id: parent,
      ...(extra && { tool_use_result: extra }),
    });
  }

  shell(id, command, stdout, { stderr = '', isError = false } = {}) {
    const content = isError ? `Exit code 3\n${stdout}${stderr}` : stdout + stderr;
    const extra = isError ? `Error: ${content}` : { stdout, stderr, interrupted: false, isImage: false };
    return this.call(id, 'Bash', { command }) + this.result(id, content, { extra, isError });
  }

  end({ text = 'Done.', isError = false } = {}) {
    return this.record({
      type: 'result',
      subtype: isError ? 'error_during_execution' : 'success',
      is_error: isError,
      result: text,
      num_turns: 1,
      duration_ms: 1234,
      total_cost_usd: 0.25,
      usage: { input_tokens: 1200, cache_read_input_tokens: 300, cache_creation_input_tokens: 40, output_tokens: 56 },
    });
  }
}

/** A UUID that depends on two numbers. */
export function uuid(one, two) {
  const hex = (number, length) => number.toString(16).padStart(length, '0');
  return `${hex(one, 8)}-0000-4000-8000-${hex(two, 12)}`;
}

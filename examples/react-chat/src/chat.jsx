import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import { useEffect, useState } from 'react';
import { Part } from './parts.jsx';
import { save } from './stored.js';

const upstream = new URLSearchParams(location.search).get('upstream') ?? 'demo';

// Every question has an answer, so the answers can be sent. Other tools may still be at work.
function isAnswered({ messages }) {
  const states = messages.findLast((message) => message.role === 'assistant')?.parts.map((part) => part.state) ?? [];
  return states.includes('approval-responded') && !states.includes('approval-requested');
}

export function Chat({ id, initialMessages }) {
  const { messages, status, error, sendMessage, stop, addToolApprovalResponse } = useChat({
    id,
    messages: initialMessages,
    transport: new DefaultChatTransport({ api: `/ai-sdk/${upstream}` }),
    sendAutomaticallyWhen: isAnswered,
    // After a reload: the run in progress, from its beginning.
    resume: true,
    throttle: 50,
  });
  const [prompt, setPrompt] = useState('');
  useEffect(() => save({ id, messages }), [id, messages]);

  const last = messages.at(-1);
  const isBusy = status === 'submitted' || status === 'streaming';
  // The run waits for an answer, and takes no other prompt meanwhile.
  const isWaiting = last?.parts.some((part) => part.state === 'approval-requested');

  function send(event) {
    event.preventDefault();
    sendMessage({ text: prompt });
    setPrompt('');
  }

  // `stop` ends the response only. The run ends too, by its id, which is the id of the message.
  async function interrupt() {
    if (last?.role === 'assistant') await fetch(`/v1/runs/${last.id}/interrupt`, { method: 'POST' });
    else stop();
  }

  // The approvals of the AI SDK are yes or no. framegate takes choices itself, and the message then continues with them.
  async function decide({ id, approved, answers }) {
    if (answers) {
      const body = JSON.stringify({ decision: 'approved', answers });
      await fetch(`/v1/runs/${last.id}/approvals/${id}`, { method: 'POST', body });
    }
    addToolApprovalResponse({ id, approved });
  }

  return (
    <main data-status={status}>
      {messages.map((message) => (
        <article key={message.id} className={message.role}>
          {message.parts.map((part, at) => (
            <Part key={at} part={part} onDecision={decide} />
          ))}
        </article>
      ))}
      {error && <p className="error">{error.message}</p>}
      {!isBusy && last?.role === 'user' && <button onClick={() => sendMessage()}>Ask again</button>}
      <form className="prompt" onSubmit={send}>
        <input
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
          placeholder="Make a plan, then write a note"
          aria-label="Prompt"
        />
        {isBusy ? (
          <button type="button" onClick={interrupt}>
            Stop
          </button>
        ) : (
          <button disabled={isWaiting || !prompt.trim()}>Send</button>
        )}
      </form>
    </main>
  );
}

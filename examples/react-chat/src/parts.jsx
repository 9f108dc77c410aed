// One part of a message, by its type.
export function Part({ part, onDecision }) {
  switch (part.type) {
    case 'text':
      return <p className="text">{part.text}</p>;
    case 'reasoning':
      return (
        <details open={part.state === 'streaming'}>
          <summary>Reasoning</summary>
          {part.text}
        </details>
      );
    case 'dynamic-tool':
      return <Tool part={part} onDecision={onDecision} />;
    case 'data-plan':
      return (
        <ul className="plan">
          {part.data.entries.map(({ content, status }) => (
            <li key={content}>
              {status === 'completed' ? '☑' : '☐'} {content}
            </li>
          ))}
        </ul>
      );
    default:
      return null;
  }
}

function Tool({ part, onDecision }) {
  const { toolName, state, input, output, errorText, approval } = part;
  const decide = (approved, answers) => onDecision({ id: approval.id, approved, answers });
  return (
    <div className="tool" data-state={state}>
      <details open={state === 'approval-requested' && !input?.questions}>
        <summary>
          <strong>{toolName}</strong> {state}
        </summary>
        <pre>{JSON.stringify(input, null, 2)}</pre>
      </details>
      {output && <pre>{output.stdout ?? JSON.stringify(output, null, 2)}</pre>}
      {errorText && <p className="error">{errorText}</p>}
      {state === 'approval-requested' && (
        <div>
          {input?.questions ? (
            <Questions questions={input.questions} onAnswer={(answers) => decide(true, answers)} />
          ) : (
            <button onClick={() => decide(true)}>Approve</button>
          )}{' '}
          <button onClick={() => decide(false)}>Deny</button>
        </div>
      )}
    </div>
  );
}

// A question that wants a choice: for each of its parts, a list of the chosen options.
function Questions({ questions, onAnswer }) {
  function answer(event) {
    event.preventDefault();
    const form = new FormData(event.target);
    onAnswer(questions.map((_, at) => form.getAll(String(at))));
  }
  return (
    <form onSubmit={answer}>
      {questions.map(({ question, options, multiSelect }, at) => (
        <label key={question}>
          {question}{' '}
          <select name={at} multiple={multiSelect}>
            {options.map(({ label }) => (
              <option key={label}>{label}</option>
            ))}
          </select>
        </label>
      ))}{' '}
      <button>Answer</button>
    </form>
  );
}

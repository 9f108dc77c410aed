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
  const decide = (approved) => () => onDecision({ id: approval.id, approved });
  return (
    <div className="tool" data-state={state}>
      <strong>{toolName}</strong> {state}
      <pre>{JSON.stringify(input, null, 2)}</pre>
      {output && <pre>{output.stdout ?? JSON.stringify(output, null, 2)}</pre>}
      {errorText && <p className="error">{errorText}</p>}
      {state === 'approval-requested' && (
        <p>
          <button onClick={decide(true)}>Approve</button> <button onClick={decide(false)}>Deny</button>
        </p>
      )}
    </div>
  );
}

import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Chat } from './chat.jsx';
import { load, newChat } from './stored.js';

// Each chat has an id, by which framegate finds the run that is in progress after a reload.
function Page() {
  const [chat, setChat] = useState(load);
  return (
    <>
      <h1>Chat with a coding agent</h1>
      <button onClick={() => setChat(newChat())}>New chat</button>
      <Chat key={chat.id} id={chat.id} initialMessages={chat.messages} />
    </>
  );
}

createRoot(document.getElementById('root')).render(<Page />);

// The chat in the browser's storage: its id, and the messages so far.
const KEY = 'framegate-chat';

export function load() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? newChat();
  } catch {
    return newChat();
  }
}

export function save(chat) {
  localStorage.setItem(KEY, JSON.stringify(chat));
}

export function newChat() {
  const chat = { id: crypto.randomUUID(), messages: [] };
  save(chat);
  return chat;
}

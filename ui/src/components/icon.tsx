// Icons as paths: no font and no request.
const PATHS = {
  close: "M4 4l8 8M12 4l-8 8",
  chevron: "M6 4l4 4-4 4",
  down: "M8 3v10M4 9l4 4 4-4",
  copy: "M6 6h7v7H6zM10 6V3H3v7h3",
  check: "M3 8.5l3.2 3.2L13 5",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6L14 14",
  terminal: "M3 4l4 4-4 4M8.5 12H13",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  pencil: "M3 13l.6-2.8L11 2.8 13.2 5 5.8 12.4z",
  globe: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14C6 12 5.4 10 5.4 8S6 4 8 2",
  plug: "M6 2v4M10 2v4M4 6h8v2a4 4 0 0 1-8 0zM8 12v3",
  agent: "M3 6h10v7H3zM8 6V3M6 9v1M10 9v1",
  list: "M6 4h7M6 8h7M6 12h7M3 4h.01M3 8h.01M3 12h.01",
  dots: "M4 8h.01M8 8h.01M12 8h.01",
  warn: "M8 3l6 10.5H2zM8 7v3M8 12h.01",
  info: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5V11M8 5h.01",
  stop: "M5 5h6v6H5z",
  send: "M2.5 8L13.5 3 11 13.5 7.5 9.5z",
  download: "M8 2v8M5 7.5L8 10.5l3-3M3 13.5h10",
  image: "M2 3h12v10H2zM2 11l4-4 3 3 2-2 3 3",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z",
  contrast: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.3 6.4a1.8 1.8 0 1 1 2.6 1.6c-.6.3-.9.7-.9 1.3M8 11.5h.01",
  plus: "M8 3v10M3 8h10",
  question: "M3 3h10v8H8l-3 3v-3H3zM6.5 5.8a1.5 1.5 0 1 1 2 1.4c-.4.2-.5.4-.5.8M8 9.6h.01",
  link: "M6.5 9.5l3-3M7 5l1.5-1.5a2.5 2.5 0 0 1 3.5 3.5L10.5 8.5M9 11l-1.5 1.5A2.5 2.5 0 0 1 4 9L5.5 7.5",
  brain: "M8 3.5C6 1.5 3 3 3.5 5.5 1.8 6.5 2 9 3.5 9.8 3.3 12.5 6.5 13.8 8 12c1.5 1.8 4.7.5 4.5-2.2C14 9 14.2 6.5 12.5 5.5 13 3 10 1.5 8 3.5zM8 3.5V12",
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration: what it stands for is said in words beside it, or in the label of its button. */
export function Icon({ name, class: extra = "" }: { name: IconName; class?: string }) {
  return (
    <svg class={`icon ${extra}`} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

const shapes = {
  ok: '<circle cx="8" cy="8" r="6.25"/><path d="m5.25 8.25 2 2 3.5-4"/>',
  warn: '<path d="M8 2.25 14.25 13.5H1.75zM8 6.5v3.25M8 11.6v.15"/>',
  bad: '<path d="M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4zM6 6l4 4M10 6l-4 4"/>',
  info: '<circle cx="8" cy="8" r="6.25"/><path d="M8 7.25v3.75M8 4.9v.2"/>',
  waiting: '<circle cx="8" cy="8" r="6" stroke-opacity=".3"/><path d="M14 8a6 6 0 0 0-6-6"/>',
  none: '<circle cx="8" cy="8" r="6.25" stroke-dasharray="2.4 2.5"/>',
  failover: '<path d="M2 5.25h11.5M10.75 2.5l2.75 2.75L10.75 8M14 10.75H2.5M5.25 8 2.5 10.75l2.75 2.75"/>',
  copy: '<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5"/>',
  check: '<path d="m3 8.5 3.25 3.25L13 5"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  clip: '<path d="m13 7.25-5.4 5.4a3.2 3.2 0 0 1-4.5-4.5l5.7-5.7a2.1 2.1 0 0 1 3 3l-5.6 5.6a1 1 0 0 1-1.5-1.4l5-5"/>',
  stop: '<path d="M4.5 4.5h7v7h-7z"/>',
  close: '<path d="m4 4 8 8M12 4l-8 8"/>',
  download: '<path d="M8 2v8M4.75 6.75 8 10l3.25-3.25M2.5 13.5h11"/>',
  upload: '<path d="M8 10V2M4.75 5.25 8 2l3.25 3.25M2.5 13.5h11"/>',
  pause: '<path d="M5.5 3v10M10.5 3v10"/>',
  play: '<path d="M4.5 2.75v10.5L13 8z"/>',
  menu: '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
  home: '<path d="M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z"/>',
  list: '<path d="M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01"/>',
  models: '<path d="m8 2 6 3.25L8 8.5 2 5.25zM2 8.25l6 3.25 6-3.25M2 11l6 3.25L14 11"/>',
  plug: '<path d="M5.5 2v3M10.5 2v3M3.75 5h8.5v2.5a4.25 4.25 0 0 1-8.5 0zM8 11.75V14"/>',
  account: '<circle cx="8" cy="5.25" r="2.75"/><path d="M2.75 13.75c.5-2.75 2.6-4.25 5.25-4.25s4.75 1.5 5.25 4.25"/>',
  people:
    '<circle cx="6" cy="5.5" r="2.5"/><path d="M1.5 13.5c.4-2.5 2.2-4 4.5-4s4.1 1.5 4.5 4M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.4.6 2.3 1.9 2.5 3.7"/>',
  key: '<circle cx="5" cy="11" r="2.75"/><path d="m7 9 6.25-6.25M10.5 5.5l2 2M12.25 3.75l1.25 1.25"/>',
  clock: '<circle cx="8" cy="8" r="6.25"/><path d="M8 4.5V8l2.25 1.75"/>',
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.25 3.25"/>',
  print: '<path d="M4.5 6V2.5h7V6M4.5 11.5h-2V6h11v5.5h-2M4.5 9.5h7v4h-7z"/>',
  external: '<path d="M9.5 2.5h4v4M13.5 2.5l-6 6M11.5 9.5v4h-9v-9h4"/>',
  arrow: '<path d="M2.5 8h11M9.5 4l4 4-4 4"/>',
  chevron: '<path d="m4 6 4 4 4-4"/>',
  trash: '<path d="M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.75 7v4M9.25 7v4"/>',
  language:
    '<circle cx="8" cy="8" r="6.25"/><path d="M1.75 8h12.5M8 1.75c2 2 2.75 4 2.75 6.25S10 12.25 8 14.25C6 12.25 5.25 10.25 5.25 8S6 3.75 8 1.75z"/>',
  sun: '<circle cx="8" cy="8" r="3"/><path d="M8 1.25v1.5M8 13.25v1.5M1.25 8h1.5M13.25 8h1.5M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M3.2 12.8l1.1-1.1M11.7 4.3l1.1-1.1"/>',
  ticket: '<path d="M1.75 3.75h12.5V6.5a1.5 1.5 0 0 0 0 3v2.75H1.75V9.5a1.5 1.5 0 0 0 0-3zM6 6v4M10 6v4"/>',
  receipt: '<path d="M3.5 1.75h9v12.5L11 13l-1.5 1.25L8 13l-1.5 1.25L5 13l-1.5 1.25zM6 5.25h4M6 8.25h4"/>',
  pulse: '<path d="M1.5 8.5h3l2-5 3 9.5 2-4.5h3"/>',
  routes:
    '<circle cx="3.5" cy="8" r="1.75"/><circle cx="12.5" cy="3.5" r="1.75"/><circle cx="12.5" cy="12.5" r="1.75"/><path d="M5.1 7.2 11 4.3M5.1 8.8l5.9 2.9"/>',
  chart: '<path d="M2.5 13.5h11M4 11V8M8 11V3M12 11V6"/>',
  book: '<path d="M8 3.75C6.5 2.6 4.5 2.25 2 2.5v10c2.5-.25 4.5.1 6 1.25 1.5-1.15 3.5-1.5 6-1.25v-10c-2.5-.25-4.5.1-6 1.25zM8 3.75v10"/>',
  leave: '<path d="M9.5 2.5h-7v11h7M6.5 8h7M11 5.5 13.5 8 11 10.5"/>',
  back: '<path d="M6 3 2.5 6.5 6 10M2.5 6.5h7a3.75 3.75 0 0 1 0 7.5H6"/>',
} as const;

/** Name of an icon, which templates show with `it.icon('ok')`. */
export type IconName = keyof typeof shapes;

/** Returns an inline SVG, hidden from screen readers because it stands next to a label; '' for unknown names, which templates may pass. */
export function renderIcon(name: string): string {
  if (!Object.hasOwn(shapes, name)) return '';
  return `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">${shapes[name as IconName]}</svg>`;
}

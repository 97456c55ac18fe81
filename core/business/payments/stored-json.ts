/** Characters of what a provider said that are kept. */
const longest = 65_536;

/** What a provider said, as JSON for a column; a statement that is too long is replaced by its beginning. */
export function toStoredJson(raw: unknown): string {
  const json = stringify(raw);
  return json.length <= longest ? json : JSON.stringify({ truncated: json.slice(0, longest / 2) });
}

function stringify(raw: unknown): string {
  try {
    return JSON.stringify(raw) ?? 'null';
  } catch {
    return JSON.stringify({ unreadable: String(raw) });
  }
}

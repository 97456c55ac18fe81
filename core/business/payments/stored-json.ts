const maxLength = 65_536;

/** Returns a provider's response as JSON for a column; a response that is too long is replaced by its beginning. */
export function toStoredJson(raw: unknown): string {
  const json = stringify(raw);
  return json.length <= maxLength ? json : JSON.stringify({ truncated: json.slice(0, maxLength / 2) });
}

function stringify(raw: unknown): string {
  try {
    return JSON.stringify(raw) ?? 'null';
  } catch {
    return JSON.stringify({ unreadable: String(raw) });
  }
}

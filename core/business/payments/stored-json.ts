const maxLength = 65_536; // characters

/** Serializes a provider's response for a JSON column. A response that is too long is truncated and stored as text. */
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

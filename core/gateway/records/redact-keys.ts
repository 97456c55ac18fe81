const credential = /\b(?:(?:sk|pk|rk|xai)-[\w-]{12,}|AIza[\w-]{20,}|[a-z][a-z0-9]{0,15}[-_][A-Za-z0-9]{20,})/g;

/** Truncates everything that has the form of an API key, a vendor's or the gateway's, to six characters. */
export function redactKeys(text: string): string {
  return text.replace(credential, (key) => `${key.slice(0, 6)}…`);
}

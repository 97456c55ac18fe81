const plain = /^[ !#-[\]-~]*$/;
const credential = /\b(?:(?:sk|pk|rk|xai)-[\w-]{12,}|AIza[\w-]{20,}|[a-z][a-z0-9]{1,15}_[A-Za-z0-9]{20,})/g;

/**
 * What a stranger wrote, as a JSON string of bounded length on one line. Control characters, line separators and marks
 * that turn the direction of writing become visible escapes. The literal is ASCII, so that its length is that of its
 * bytes, and at most seven times `maxLength`.
 */
export function literal(text: string, maxLength: number): string {
  const bounded = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
  return plain.test(bounded) ? `"${bounded}"` : `"${escape(bounded)}"`;
}

/** JSON.stringify and replace would do the same in ten times the time; every key hint comes here for its ellipsis. */
function escape(text: string): string {
  const wellFormed = text.toWellFormed();
  let result = '';
  let copied = 0;
  for (let index = 0; index < wellFormed.length; index++) {
    const code = wellFormed.charCodeAt(index);
    if (code >= 0x20 && code < 0x7f && code !== quote && code !== backslash) continue;
    result += wellFormed.slice(copied, index) + escapeUnit(code);
    copied = index + 1;
  }
  return result + wellFormed.slice(copied);
}

const quote = 0x22;
const backslash = 0x5c;

function escapeUnit(code: number): string {
  if (code === quote) return '\\"';
  if (code === backslash) return '\\\\';
  if (code < 0xa0) return `\\\\x${code.toString(16).padStart(2, '0')}`;
  const unit = `\\u${code.toString(16).padStart(4, '0')}`;
  return isDeceptive(code) ? `\\${unit}` : unit;
}

/** Line and paragraph separator, and the marks that change the direction of what follows. */
function isDeceptive(code: number): boolean {
  return (
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069) ||
    code === 0x200e ||
    code === 0x200f ||
    code === 0x061c
  );
}

/** Leaves only the beginning of whatever has the shape of an API key, a vendor's or our own. */
export function withoutKeys(text: string): string {
  return text.replace(credential, (key) => `${key.slice(0, 6)}…`);
}

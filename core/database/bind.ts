/** A quoted text or name, a comment or a dollar-quoted body: question marks in there are none of ours. */
const quoted = String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*[^]*?\*/|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$`;
const token = new RegExp(`${quoted}|\\?`, 'g');

export interface BoundQuery {
  readonly text: string;
  readonly values: unknown[];
}

/**
 * `?` becomes `$1`, `$2` and so on, and for a list as many as it has elements. An empty list becomes `NULL`, so that
 * `IN (?)` is true of nothing.
 *
 * @throws Error when there are more or fewer parameters than places for them
 */
export function bind(sql: string, parameters: readonly unknown[]): BoundQuery {
  const values: unknown[] = [];
  let next = 0;
  const text = sql.replace(token, (found) => {
    if (found !== '?') return found;
    const parameter = parameters[next++];
    if (!Array.isArray(parameter)) return `$${values.push(parameter)}`;
    return parameter.map((value) => `$${values.push(value)}`).join(', ') || 'NULL';
  });
  if (next !== parameters.length)
    throw new Error(`a statement with ${next} places for parameters got ${parameters.length}`);
  return { text, values };
}

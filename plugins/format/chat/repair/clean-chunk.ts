import { endOfString } from '#core/json.ts';

/** What a clean delta carries. */
export type CleanDelta =
  | { readonly type: 'text'; readonly text: string; readonly reasoning: string }
  | { readonly type: 'input'; readonly index: number; readonly input: string };

/** Members, as vendors write them, that make a chunk worth parsing. */
const notable =
  /"(?:finish_reason"\s*:\s*"|content"\s*:\s*[[{]|message"\s*:|refusal"\s*:\s*"|function_call"\s*:\s*\{|error"\s*:)/;
const delta = '"delta":{';
const callList = '"tool_calls":';
const details = '"reasoning_details":';
/** The next piece of one call. */
const nextInput = /"tool_calls":\[\{"index":(\d+),"function":\{"arguments":(?=")/g;
const endOfInput = /\}\}\]/y;

/**
 * Reads a chunk whose only choice carries text, reasoning, or the next piece of one call, without parsing it: every
 * token of a stream comes this way. Undefined for any other chunk, and for one that may be odd.
 */
export function readClean(chunk: string): CleanDelta | undefined {
  const at = chunk.indexOf(delta);
  if (at === -1 || notable.test(chunk)) return undefined;
  if (chunk.includes(callList, at)) return readInput(chunk, at);
  const reasoning = stringAt(chunk, '"reasoning_content":"', at) || stringAt(chunk, '"reasoning":"', at);
  // Without a plain text of it, details may be cumulative.
  if (reasoning === '' && chunk.includes(details, at)) return undefined;
  return { type: 'text', text: stringAt(chunk, '"content":"', at), reasoning };
}

function readInput(chunk: string, at: number): CleanDelta | undefined {
  nextInput.lastIndex = at;
  const found = nextInput.exec(chunk);
  if (found === null) return undefined;
  const start = nextInput.lastIndex;
  const end = endOfString(chunk, start) + 1;
  endOfInput.lastIndex = end;
  if (!endOfInput.test(chunk)) return undefined;
  return { type: 'input', index: Number(found[1]), input: unquote(chunk.slice(start, end)) };
}

/** The string behind such a beginning; empty when there is none. */
function stringAt(chunk: string, beginning: string, from: number): string {
  const at = chunk.indexOf(beginning, from);
  if (at === -1) return '';
  const start = at + beginning.length - 1;
  return unquote(chunk.slice(start, endOfString(chunk, start) + 1));
}

/** The text of a JSON string; of a malformed one, its characters. */
function unquote(literal: string): string {
  if (!literal.includes('\\')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal) as string;
  } catch {
    return literal;
  }
}

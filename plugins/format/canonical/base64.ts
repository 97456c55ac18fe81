import { invalid } from './read.ts';

/**
 * Standard base64 with padding, as data URLs and Anthropic define it. google-genai for Python writes the url-safe alphabet,
 * which Gemini takes too; white space and missing padding are common. Data that is standard already is returned itself.
 *
 * @param path of the member, for errors
 * @throws GatewayError `invalid_request`
 */
export function standardBase64(data: string, path: string): string {
  const end = data.search(/[^A-Za-z0-9+/]/);
  if (isWhole(data, end)) return data;
  const plain = data.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  const padding = plain.search(/[^A-Za-z0-9+/]/);
  const digits = padding === -1 ? plain : plain.slice(0, padding);
  if (digits.length % 4 === 1 || !/^={0,3}$/.test(plain.slice(digits.length))) throw invalid(path, 'base64');
  return digits.padEnd(Math.ceil(digits.length / 4) * 4, '=');
}

/** @param end of the digits; -1 where nothing follows them */
function isWhole(data: string, end: number): boolean {
  return data.length % 4 === 0 && (end === -1 || /^={1,2}$/.test(data.slice(end)));
}

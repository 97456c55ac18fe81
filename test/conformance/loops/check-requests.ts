import type { RecordedRequest } from '../../support/faulty-upstream.ts';
import { objectOf } from '../conversation.ts';
import { formatOf, loop, readAsk, signatureOf } from './looping-upstream.ts';

/** Files that clients send: bytes whose standard and url-safe base64 differ. */
export const files = {
  image: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xfb, 0xff, 0xfe, 0xfb, 0xef, 0xbe]).toString('base64'),
  pdf: Buffer.from([0x25, 0x50, 0x44, 0x46, 0x2d, 0xfb, 0xff, 0xfe, 0xff, 0xbf]).toString('base64'),
};

/** False for a format without files other than images. */
export function readsPdf(model: string): boolean {
  return model !== 'ollama';
}

/** Formats whose models want their reasoning back with its signature. */
const signed = new Set(['responses', 'messages', 'gemini']);

/** What a client's requests have lost on their way to the upstreams, which are named in the paths. */
export function findLosses(client: string, requests: readonly RecordedRequest[], hasPdf: boolean): string[] {
  const losses = requests.flatMap((request) => [...findUnsigned(request), ...findAltered(request, hasPdf)]);
  return client.startsWith('anthropic') ? [...losses, ...findThreadless(requests)] : losses;
}

/** Calls that return without the signature of the reasoning that led to them. */
function findUnsigned(request: RecordedRequest): string[] {
  if (!signed.has(formatOf(request)) || isContinued(request)) return [];
  const received = readAsk(request, request.json());
  const unsigned: string[] = [];
  let [calls, signatures]: [number, (string | undefined)[]] = [0, []];
  for (const entry of received instanceof Error ? [] : received.entries) {
    if (entry.type === 'thought') signatures.push(entry.signature);
    if (entry.type !== 'call') continue;
    if (!signatures.includes(signatureOf(++calls))) unsigned.push(`call ${calls} has no signature at ${request.path}`);
    signatures = [];
  }
  return unsigned;
}

function isContinued(request: RecordedRequest): boolean {
  return objectOf(request.json()['thread'])['type'] === 'continue';
}

/** Files that do not arrive in standard base64. Gemini reads both forms, and a thread keeps those of its first request. */
function findAltered(request: RecordedRequest, hasPdf: boolean): string[] {
  // A request beside the loop has none.
  if (isContinued(request) || !request.body.includes(loop.question)) return [];
  const format = formatOf(request);
  const written = JSON.stringify(request.json());
  const read = format === 'gemini' ? written.replaceAll('-', '+').replaceAll('_', '/') : written;
  const expected = hasPdf && readsPdf(format) ? [files.image, files.pdf] : [files.image];
  return expected.every((file) => read.includes(file)) ? [] : [`a file is altered or missing at ${request.path}`];
}

/** A Messages vendor that keeps threads is to continue them, not to get the whole history again. */
function findThreadless(requests: readonly RecordedRequest[]): string[] {
  const toVendor = requests.filter(({ path }) => path.startsWith('/threads/'));
  const hasContinued = toVendor.some(isContinued);
  return toVendor.length > 0 && !hasContinued ? ['no thread was continued'] : [];
}

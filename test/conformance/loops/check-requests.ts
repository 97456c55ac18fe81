import type { RecordedRequest } from '../../support/faulty-upstream.ts';

/** Files that clients send: bytes whose standard and url-safe base64 differ. */
export const files = {
  image: Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xfb, 0xff, 0xfe, 0xfb, 0xef, 0xbe]).toString('base64'),
  pdf: Buffer.from([0x25, 0x50, 0x44, 0x46, 0x2d, 0xfb, 0xff, 0xfe, 0xff, 0xbf]).toString('base64'),
};

/** False for a format without files other than images. */
export function readsPdf(model: string): boolean {
  return model !== 'ollama';
}

interface GeminiPart {
  readonly functionCall?: object;
  readonly thoughtSignature?: string;
}

interface UpstreamRequest {
  readonly contents?: readonly { readonly parts: readonly GeminiPart[] }[];
  readonly thread?: { readonly type: string };
}

/** What a client's requests have lost on their way to the upstreams, which are named in the paths. */
export function findLosses(client: string, requests: readonly RecordedRequest[]): string[] {
  const losses = requests.flatMap((request) => [...findUnsigned(request), ...findAltered(request)]);
  return client.startsWith('anthropic') ? [...losses, ...findThreadless(requests)] : losses;
}

/** Calls that reach Gemini without the signature that it gave them. */
function findUnsigned(request: RecordedRequest): string[] {
  const { contents = [] } = request.json<UpstreamRequest>();
  const calls = contents.flatMap(({ parts }) => parts).filter(({ functionCall }) => functionCall !== undefined);
  return calls.filter((part) => !isSigned(part)).map((part) => `a call without its signature: ${JSON.stringify(part)}`);
}

function isSigned({ thoughtSignature = '' }: GeminiPart): boolean {
  return Buffer.from(thoughtSignature, 'base64').toString().startsWith('signature of call_');
}

/** Files that do not arrive in standard base64. Gemini reads both forms, and a thread keeps those of its first request. */
function findAltered(request: RecordedRequest): string[] {
  if (request.json<UpstreamRequest>().thread?.type === 'continue') return [];
  const [, model = ''] = request.path.split('/');
  const written = JSON.stringify(request.json());
  const read = model === 'gemini' ? written.replaceAll('-', '+').replaceAll('_', '/') : written;
  const expected = readsPdf(model) ? [files.image, files.pdf] : [files.image];
  return expected.every((file) => read.includes(file)) ? [] : [`a file is altered or missing at ${request.path}`];
}

/** A Messages vendor that keeps threads is to continue them, not to get the whole history again. */
function findThreadless(requests: readonly RecordedRequest[]): string[] {
  const toVendor = requests.filter(({ path }) => path.startsWith('/threads/'));
  const hasContinued = toVendor.some((request) => request.json<UpstreamRequest>().thread?.type === 'continue');
  return toVendor.length > 0 && !hasContinued ? ['no thread was continued'] : [];
}

import { request } from 'undici';

/** Bytes of a first visit as transferred, compressed. */
export interface PageWeight {
  readonly html: number;
  readonly styles: number;
  readonly scripts: number;
  readonly total: number; // with pictures and everything else that the page refers to
}

const named = /(?:href|src)="(\/assets\/[^"]+|\/manifest\.webmanifest)"/g;

/** Weighs a page for an empty cache. `known` has sizes by URL, shared by the pages of one gateway. */
export async function weighPage(
  origin: string,
  path: string,
  cookie: string | undefined,
  known: Map<string, number> = new Map(),
): Promise<PageWeight> {
  const headers = { accept: 'text/html', 'accept-encoding': 'gzip', ...(cookie !== undefined && { cookie }) };
  const { size: html, text } = await download(origin + path, headers);
  const weight = { html, styles: 0, scripts: 0, total: html };
  for (const url of new Set([...text.matchAll(named)].map(([, found = '']) => found))) {
    const size = known.get(url) ?? (await download(origin + url, { 'accept-encoding': 'gzip' })).size;
    known.set(url, size);
    weight.total += size;
    if (url.endsWith('.css')) weight.styles += size;
    if (url.endsWith('.js')) weight.scripts += size;
  }
  return weight;
}

async function download(url: string, headers: Record<string, string>): Promise<{ size: number; text: string }> {
  const { body, headers: answered } = await request(url, { headers, signal: AbortSignal.timeout(20_000) });
  const bytes = Buffer.from(await body.bytes());
  const text =
    answered['content-encoding'] === 'gzip' ? new TextDecoder().decode(await gunzip(bytes)) : bytes.toString();
  return { size: bytes.length, text };
}

async function gunzip(bytes: Buffer): Promise<ArrayBuffer> {
  return new Response(
    new Blob([new Uint8Array(bytes)]).stream().pipeThrough(new DecompressionStream('gzip')),
  ).arrayBuffer();
}

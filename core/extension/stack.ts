import { fileURLToPath } from 'node:url';

/** A line of a source file. */
export interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

const gatewayFolder = fileURLToPath(new URL('../../', import.meta.url));
const place = /(?<=[\s(]|file:\/\/|^)(\/[^\s():]+|[A-Za-z]:[\\/][^\s():]+):(\d+)/gm;

/** The places that an error's stack names, innermost first, without those of packages that the gateway depends on. */
export function placesOf(error: unknown): SourcePlace[] {
  if (!(error instanceof Error)) return [];
  return readPlaces(error.stack ?? '');
}

/** The places that a text names as V8 writes them. */
export function readPlaces(text: string): SourcePlace[] {
  return [...text.matchAll(place)]
    .map(([, file = '', line]) => ({ file: decodeURI(file), line: Number(line) }))
    .filter(({ file }) => !file.startsWith(`${gatewayFolder}node_modules/`));
}

/** True for core and for the plugins that come with the gateway. */
export function isOwnSource({ file }: SourcePlace): boolean {
  return file.startsWith(`${gatewayFolder}core/`) || file.startsWith(`${gatewayFolder}plugins/`);
}

import { GatewayError } from '#core/errors/table.ts';
import type { Part, Source } from './conversation.ts';

/** Where parts stand in the client's request, for those who refuse them. What was made here stands nowhere. */
const paths = new WeakMap<Part, string>();

/** Notes where parts stand. One that holds others does not stand in their place. */
export function placeParts(parts: Part[], path: string): Part[] {
  for (const part of parts) if (part.type !== 'text' && !paths.has(part)) paths.set(part, path);
  return parts;
}

/** A part that the model can neither see nor hear. */
export function unsupported(what: string, part: Part): GatewayError {
  const param = paths.get(part);
  return new GatewayError(
    'unsupported_content',
    `this model does not take ${what}`,
    param === undefined ? {} : { param },
  );
}

/** What a file says, where it is text: models read it that read no files. Undefined for all others. */
export function fileText(source: Source): string | undefined {
  if (source.type !== 'base64' || !isText(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString();
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript)$/.test(mediaType);
}

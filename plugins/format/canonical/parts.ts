import { GatewayError } from '#core/errors/table.ts';
import type { Part, RefusalPart, Source, TextPart } from './conversation.ts';
import type { Notes } from './notes.ts';

/** Paths of parts in the client's request, for error messages. Parts made by the gateway have none. */
const paths = new WeakMap<Part, string>();

/** Remembers the path of parts, unless they have a longer one already. */
export function placeParts(parts: Part[], path: string): Part[] {
  for (const part of parts) if (part.type !== 'text' && !paths.has(part)) paths.set(part, path);
  return parts;
}

/** The error for a part that the model cannot read. */
export function unsupported(what: string, part: Part): GatewayError {
  const param = paths.get(part);
  return new GatewayError(
    'unsupported_content',
    `This model does not accept ${what}.`,
    param === undefined ? {} : { param },
  );
}

/** The text of a text file, which models without file support can read too; undefined for any other file. */
export function fileText(source: Source): string | undefined {
  if (source.type !== 'base64' || !isText(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString();
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript)$/.test(mediaType);
}

/** True for images, files and audio, which tools and assistants of most formats cannot send. */
export function isMedia(part: Part): part is Exclude<Part, TextPart | RefusalPart> {
  return part.type !== 'text' && part.type !== 'refusal';
}

/** The text parts of an assistant message; media are dropped and noted. */
export function assistantText(parts: readonly Part[], notes: Notes): (TextPart | RefusalPart)[] {
  return parts.flatMap((part) => {
    if (!isMedia(part)) return [part];
    notes.drop(`${part.type} in assistant message`);
    return [];
  });
}

/** A text as parts: none when it is empty. */
export function textPart(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

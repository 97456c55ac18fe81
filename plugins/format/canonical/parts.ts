import { GatewayError } from '#core/errors.ts';
import type { Source } from './conversation.ts';

/** A part that the model can neither see nor hear. @param param the member of a request that such parts come in */
export function unsupported(what: string, param: string): GatewayError {
  return new GatewayError('not_supported', `this model does not take ${what}`, { param });
}

/** What a file says, where it is text: models read it that read no files. Undefined for all others. */
export function fileText(source: Source): string | undefined {
  if (source.type !== 'base64' || !isText(source.mediaType)) return undefined;
  return Buffer.from(source.data, 'base64').toString();
}

function isText(mediaType: string): boolean {
  return /^text\/|[/+](json|xml|yaml|javascript)$/.test(mediaType);
}

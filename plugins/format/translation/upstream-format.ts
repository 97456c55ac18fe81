import type { Route } from '#core/catalog/catalog.ts';
import { GatewayError } from '#core/errors/table.ts';
import { type Format, type TextFormat, textFormats } from '#core/catalog/formats.ts';
import type { ClientRequest } from '../request/client-request.ts';

/**
 * Upstream formats by how much of a client's format they can say. The client's own comes first: nothing is translated
 * then.
 */
const preferences: Readonly<Record<TextFormat, readonly TextFormat[]>> = {
  chat: ['chat', 'responses', 'messages', 'gemini'],
  responses: ['responses', 'messages', 'chat', 'gemini'],
  messages: ['messages', 'responses', 'chat', 'gemini'],
  gemini: ['gemini', 'responses', 'messages', 'chat'],
};

/** True for a format that can be put into another. */
export function isTextFormat(format: Format): format is TextFormat {
  return (textFormats as readonly Format[]).includes(format);
}

/**
 * The format in which a route is asked.
 *
 * @throws GatewayError `not_supported` when it speaks none that the request can be put into
 */
export function upstreamFormat(route: Route, { format, purpose, body }: ClientRequest): Format {
  const { formats } = route.upstream;
  if (!isTextFormat(format)) {
    if (formats.includes(format)) return format;
    throw notSpoken(route, format);
  }
  if (purpose === 'count') {
    if (formats.includes(format) && route.traits.parameters.count_tokens) return format;
    throw new GatewayError('not_supported', 'the route does not count tokens');
  }
  if (needsResponses(route, format, body['tools'])) return 'responses';
  const spoken = preferredFormat(format, formats);
  if (spoken === undefined) throw notSpoken(route, format);
  return spoken;
}

/** Of those that an upstream speaks, the format that says most of what a client can say. */
export function preferredFormat(client: TextFormat, spoken: readonly Format[]): TextFormat | undefined {
  return preferences[client].find((one) => spoken.includes(one));
}

/** Some models refuse tools on their Chat endpoint as soon as they think, and they think by default. */
function needsResponses({ upstream, traits }: Route, format: TextFormat, tools: unknown): boolean {
  if (format === 'responses' || !traits.parameters.responses_for_tools) return false;
  return upstream.formats.includes('responses') && Array.isArray(tools) && tools.length > 0;
}

function notSpoken({ upstream }: Route, format: Format): GatewayError {
  const spoken = upstream.formats.join(', ');
  const message = `the model is not served in the ${format} format; it speaks ${spoken}`;
  return new GatewayError('not_supported', message, { param: 'model' });
}

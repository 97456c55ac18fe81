import type { Route } from '#core/config/catalog/catalog.ts';
import { profileIn } from '#core/config/catalog/profile.ts';
import { GatewayError } from '#core/platform/errors/table.ts';
import {
  type ClientFormat,
  type FormatDescriptor,
  isTextFormat,
  type TextFormat,
} from '../formats/contract/descriptor.ts';
import { textFormats } from '../formats/formats.ts';
import type { ClientRequest } from './client-request.ts';
import { responses } from '../formats/responses/descriptor.ts';

/**
 * The format in which a route is asked.
 *
 * @throws GatewayError `not_supported` when it speaks none that the request can be translated into
 */
export function upstreamFormat(route: Route, { format, purpose, outline }: ClientRequest): FormatDescriptor {
  const { formats } = route.upstream;
  if (!isTextFormat(format)) {
    if (formats.includes(format.name)) return format;
    throw formatUnavailable(route, format);
  }
  if (purpose === 'count') {
    if (formats.includes(format.name) && profileIn(format.name, route.profile).quirks.count_tokens) return format;
    throw new GatewayError('not_supported', 'The route does not count tokens.');
  }
  if (needsResponses(route, format, outline['tools'])) return responses;
  const preferred = preferredFormat(format, formats);
  if (preferred === undefined) throw formatUnavailable(route, format);
  return preferred;
}

/** Selects the client's own format if the upstream supports it, otherwise the most expressive one. */
export function preferredFormat(client: TextFormat, available: readonly string[]): TextFormat | undefined {
  return available.includes(client.name) ? client : textFormats.find(({ name }) => available.includes(name));
}

/** Some models refuse tools on their Chat endpoint as soon as they reason, and they reason by default. */
function needsResponses({ upstream, profile }: Route, format: TextFormat, tools: unknown): boolean {
  if (format === responses || !profile.quirks.responses_for_tools) return false;
  return upstream.formats.includes(responses.name) && Array.isArray(tools) && tools.length > 0;
}

function formatUnavailable({ upstream }: Route, { name }: Pick<ClientFormat, 'name'>): GatewayError {
  const available = upstream.formats.join(', ');
  const message = `This model is not available in the ${name} format, only in ${available}.`;
  return new GatewayError('not_supported', message, { param: 'model' });
}

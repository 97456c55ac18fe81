import type { Service } from '#core/gateway/host/host.ts';
import { notesHeaderName } from '#core/gateway/model-call/notes-header.ts';
import type { DocumentedHeader } from '#core/gateway/host/api-documentation.ts';
import type { RouteExposure } from './route-headers.ts';

/** The headers of answers that say how a request was served, as far as customers may know. */
export function describeRouteHeaders(service: Pick<Service, 'slug'>, exposure: RouteExposure): DocumentedHeader[] {
  const notes = { name: notesHeaderName(service), text: 'upstream.docs.notes', example: 'top_k dropped' };
  const [first, second] = exposure === 'names' ? ['main/model', 'backup/model'] : ['1', '2'];
  const routes = [
    { name: `x-${service.slug}-route`, text: 'upstream.docs.route', example: second },
    { name: `x-${service.slug}-attempts`, text: 'upstream.docs.attempts', example: `${first} 503, ${second} 200` },
  ];
  return [notes, ...(exposure === 'hidden' ? [] : routes)].map((header) => ({ ...header, in: 'response' }));
}

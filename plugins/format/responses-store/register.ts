import type { Server } from '@hapi/hapi';
import type { Endpoint } from '#core/pipeline/endpoint.ts';
import { cleanupJob } from './cleanup.ts';
import { deleteResponse, getResponse, listInputItems } from './endpoints.ts';
import { responsesSection } from './section.ts';

/** Everything about stored responses but the work of the stage: section, job, and the paths to see and delete them. */
export function registerResponsesStore(server: Server): void {
  const endpoint = (name: string, given: Pick<Endpoint, 'method' | 'path' | 'answer'>) =>
    server.gateway.endpoint({ ...given, name, dialect: 'openai', isMetered: false, isAliased: true });
  server.gateway.section(responsesSection);
  server.gateway.job(cleanupJob);
  endpoint('get_response', {
    method: 'GET',
    path: '/v1/responses/{id}',
    answer: (exchange) => getResponse(server.host(), exchange),
  });
  endpoint('delete_response', {
    method: 'DELETE',
    path: '/v1/responses/{id}',
    answer: (exchange) => deleteResponse(server.host(), exchange),
  });
  endpoint('list_input_items', {
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
    answer: (exchange) => listInputItems(server.host(), exchange),
  });
}

import type { Server } from '@hapi/hapi';
import type { Endpoint } from '#core/pipeline/exchange.ts';
import { cleanupJob } from './cleanup.ts';
import { deleteResponse, getResponse, listInputItems, refuseUnsupported } from './endpoints.ts';
import { responsesSection } from './section.ts';

/** Paths that clients try besides those of responses: Codex compacts there. */
const siblings = ['compact', 'input_tokens'];

/** Registers section, job and endpoints of stored responses. */
export function registerResponsesStore(server: Server): void {
  const endpoint = (name: string, given: Pick<Endpoint, 'method' | 'path' | 'answer' | 'documentation'>) =>
    server.gateway.endpoint({ ...given, name, dialect: 'openai', isMetered: false, isAliased: true });
  server.gateway.section(responsesSection);
  server.gateway.job(cleanupJob);
  for (const name of siblings) {
    endpoint(`responses_${name}`, { method: 'POST', path: `/v1/responses/${name}`, answer: refuseUnsupported });
  }
  endpoint('get_response', {
    documentation: { summary: 'format.docs.get_response' },
    method: 'GET',
    path: '/v1/responses/{id}',
    answer: (exchange) => getResponse(server.host(), exchange),
  });
  endpoint('delete_response', {
    documentation: { summary: 'format.docs.delete_response' },
    method: 'DELETE',
    path: '/v1/responses/{id}',
    answer: (exchange) => deleteResponse(server.host(), exchange),
  });
  endpoint('list_input_items', {
    documentation: { summary: 'format.docs.list_input_items' },
    method: 'GET',
    path: '/v1/responses/{id}/input_items',
    answer: (exchange) => listInputItems(server.host(), exchange),
  });
}

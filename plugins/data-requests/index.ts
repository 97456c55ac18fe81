import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { answerAction, recordAction } from './actions.ts';
import { dataRequestCommand } from './command.ts';
import { retention } from './job.ts';
import { answerMail } from './mail/kind.ts';
import { pauseNotice } from './notice.ts';
import { ownPage } from './own-page.ts';
import { answeredPage, answerPage, recordPage, requestsPage } from './pages.ts';
import { openRequests } from './problem.ts';
import { dataRequests } from './resource.ts';
import { dataRequestsSection } from './section.ts';

/** Requests about personal data, with their deadlines and answers. */
export const plugin: GatewayPlugin = {
  name: 'data-requests',
  register({ gateway }) {
    gateway.section(dataRequestsSection);
    gateway.tables({ name: 'data_request', entities: async () => Object.values(await import('./entities.ts')) });
    gateway.mail(answerMail);
    gateway.notices(pauseNotice);
    gateway.problem(openRequests);
    gateway.job(retention);
    for (const action of [recordAction, answerAction]) gateway.action(action);
    for (const page of [ownPage, requestsPage, recordPage, answeredPage, answerPage]) gateway.page(page);
    gateway.resource(dataRequests);
    gateway.command(dataRequestCommand);
  },
};

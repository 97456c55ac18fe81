import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { answerAction, recordAction } from './actions.ts';
import { dataRequests } from './resource.ts';

/** `daypass data-request …`: requests of people about their data. */
export const dataRequestCommand = resourceCommand(dataRequests, {
  description: 'list requests about data, record those that came by mail or chat, and answer them',
  actions: [recordAction, answerAction],
  examples: [
    'daypass data-request list --state open',
    'daypass data-request record --kind correction --channel mail --account ani@example.com --text "My name is Ani."',
    'daypass data-request answer REQUEST --outcome done --answer "Your name is corrected."',
  ],
});

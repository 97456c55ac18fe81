import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { acceptances } from './resource.ts';

/** `daypass acceptance list`: lists accepted versions of the terms. */
export const acceptanceCommand = resourceCommand(acceptances, {
  description: 'list which versions of the terms buyers have accepted',
  examples: ['daypass acceptance list', 'daypass acceptance list --order ORD-7F3K2MQX'],
});

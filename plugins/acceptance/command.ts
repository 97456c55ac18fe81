import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { acceptances } from './resource.ts';

/** `daypass acceptance list`: lists who accepted which version of the terms, and when. */
export const acceptanceCommand = resourceCommand(acceptances, {
  description: 'list which versions of the terms buyers have accepted',
  examples: ['daypass acceptance list', 'daypass acceptance list --order ORD-7F3K2MQX'],
});

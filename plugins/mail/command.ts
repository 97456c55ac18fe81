import { exitCodesFor } from '#core/extension/commands/explain-errors.ts';
import { resourceCommand } from '#core/extension/commands/resource-command.ts';
import { mails } from '#core/web/resources/mails.ts';
import { sendAgainAction } from './operator/actions.ts';

/** `daypass mail …`: for the operator. Runs next to a gateway, which sends the mails. */
export const mailCommand = resourceCommand(mails, {
  description: 'list mails to customers, and send one again',
  exitCodes: exitCodesFor('mail, account or order'),
  examples: ['daypass mail list --undelivered', 'daypass mail list --order ORD-7F3K2MQX'],
  actions: [
    [
      sendAgainAction,
      {
        handle: 'id of the mail (daypass mail list)',
        examples: ['daypass mail send-again 4711 --note "mailbox was full"'],
        done: (id) => `mail ${id} is sent again`,
      },
    ],
  ],
});

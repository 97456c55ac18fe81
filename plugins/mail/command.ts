import { coreAction } from '#core/business/operator-actions/actions.ts';
import { addActionCommand } from '#core/extension/commands/action-command.ts';
import type { Command } from '#core/extension/commands/command.ts';
import { addListCommand } from '#core/extension/commands/list-command.ts';
import { mails } from '#core/web/resources/mails.ts';

const exitCodes = `

Exit codes: 0 success, 1 failure, 2 invalid usage, 3 mail, account or order not found.`;

/** `daypass mail …`: for the operator. Works next to a running gateway, which sends the mails. */
export const mailCommand: Command = {
  name: 'mail',
  define(parser, context) {
    parser.description('list mails to customers, and send one again').addHelpText('after', exitCodes);
    addListCommand(parser, context, mails, {
      exitCodes,
      examples: ['daypass mail list --undelivered', 'daypass mail list --order ORD-7F3K2MQX'],
    });
    addActionCommand(parser, context, coreAction('mail.send_again'), {
      handle: 'id of the mail (daypass mail list)',
      examples: ['daypass mail send-again 4711 --note "mailbox was full"'],
      done: (id) => `mail ${id} is sent again`,
    });
  },
};

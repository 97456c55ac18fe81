import { describe, expect, it } from 'vitest';
import { leaseSeconds } from '#core/business/mail/outbox.ts';
import {
  classifyRefusal,
  formatFailure,
  createRefusalKey,
  type SmtpFailure,
} from '../../../plugins/mail/smtp-failure.ts';
import { smtpTimeouts } from '../../../plugins/mail/smtp-session.ts';

const of = (response: string, to: string) =>
  createRefusalKey(Object.assign(new Error(response), { response, responseCode: 550 }) as SmtpFailure, to);

/** As servers and vendors write them: Postfix, Exim, OpenSMTPD, sendmail, Gmail, Outlook, Amazon SES. */
describe('a refusal', () => {
  it.each([
    '550 authentication required',
    '530 5.7.0 Must issue a STARTTLS command first',
    '530 5.7.57 Client not authenticated to send mail',
    '535 5.7.8 Username and Password not accepted',
    '503 AUTH command used when not advertised',
    '550 relay not permitted',
    '554 5.7.1 <ani@example.com>: Relay access denied',
    '550 5.7.1 Relaying denied. Proper authentication required.',
    '550 5.4.5 Daily user sending limit exceeded',
    '550-5.7.26 This mail has been blocked because the sender is unauthenticated.',
    '554 Message rejected: Email address is not verified by your account, check your sender',
    '550 Your server IP is listed in a block list',
    '554 5.3.2 system not accepting network messages',
    '553 5.1.8 Sender address rejected: Domain not found',
    '550 Maximum hourly rate exceeded',
    '554 Please use TLS',
  ])('"%s" is about the server', (reply) => {
    expect(classifyRefusal(Number(reply.slice(0, 3)), reply)).toBe('server');
  });

  it.each([
    '550 5.1.1 <ani@example.com>: Recipient address rejected: User unknown in relay recipient table',
    '550 <ani@example.com>... User unknown',
    '550 No such user here',
    '550 5.2.1 The email account that you tried to reach is disabled',
    '552 5.2.2 Mailbox full',
    '552 mailbox limit exceeded',
    '552 5.3.4 Error: message file too big',
    '501 5.1.3 Bad recipient address syntax',
    '501 5.5.4 Invalid address',
    '550 mailbox does not exist',
    '556 5.1.10 Recipient address has null MX',
  ])('"%s" is about the recipient', (reply) => {
    expect(classifyRefusal(Number(reply.slice(0, 3)), reply)).toBe('recipient');
  });

  it.each([
    '550 Invalid recipient: <ani@example.com>',
    '554 no',
    '550 Unrouteable address',
    '550 5.1.0 no',
    '550 from 10.5.1.1',
  ])('"%s" may be about either', (reply) => {
    expect(classifyRefusal(Number(reply.slice(0, 3)), reply)).toBe('unclear');
  });

  it('is the same as that of another recipient, if code and status or words are', () => {
    expect(of('550 5.7.1 no mail for a.example', 'x@a.example')).toBe(of('550 5.7.1 nor for b.example', 'y@b.example'));
    expect(of('550 <x@a.example>: no route to a.example', 'x@a.example')).toBe(
      of('550 <y@b.example>: no route to b.example', 'y@b.example'),
    );
    expect(of('550 user unknown', 'x@a.example')).not.toBe(of('550 no relay', 'y@b.example'));
  });

  it('is described without the path of a source file of OpenSSL', () => {
    const message =
      'C0D2:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/x.c:80:\n';
    expect(formatFailure(new Error(message))).toBe('TLS: wrong version number');
  });

  it('of a megabyte is looked at in no time', () => {
    const begun = performance.now();
    classifyRefusal(550, `550 ${'<'.repeat(1_000_000)}`);
    formatFailure(new Error('<'.repeat(1_000_000)));
    expect(performance.now() - begun).toBeLessThan(2_000);
  });
});

it('a message is leased for longer than a run with the slowest mail', () => {
  expect(leaseSeconds * 1_000).toBeGreaterThan(smtpTimeouts.mail + smtpTimeouts.connect + 60_000);
  expect(smtpTimeouts.mail).toBeGreaterThanOrEqual(smtpTimeouts.greeting + smtpTimeouts.idle);
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { SmtpServer } from '#core/business/mail/smtp-url.ts';
import { probeServer } from '../../plugins/mail/smtp-probe.ts';
import { type OutgoingMail, sendMail } from '../../plugins/mail/smtp.ts';
import { freePort } from '../support/free-port.ts';
import { type MailServer, servers, type SpecialCase } from './servers.ts';

/*
 * Mails through real mail servers, each in an overlay of this machine's root that nothing else sees and that is removed afterwards.
 * Needs Linux, root, apt-get with Debian's packages, and Go for Mailpit. What cannot be installed fails.
 */

/** Ms. */
const longestInstall = 15 * 60_000;
const longestStart = 3 * 60_000;
const longestDelivery = 60_000;

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const wanted = servers.filter(({ name }) => values.only === undefined || values.only.split(',').includes(name));
if (wanted.length === 0) throw new Error(`--only takes ${servers.map(({ name }) => name).join(', ')}`);
if (process.platform !== 'linux' || process.getuid?.() !== 0)
  throw new Error('needs Linux and root, for overlay roots');

let failures = 0;
for (const server of wanted) {
  try {
    await tryServer(server);
  } catch (error) {
    failures++;
    console.log(`  FAIL ${server.name}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(failures === 0 ? 'mail servers: all passed' : `mail servers: ${failures} failed`);
process.exitCode = failures === 0 ? 0 : 1;

async function tryServer(server: MailServer): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `daypass-${server.name}-`));
  const port = await freePort();
  const running = start(server, folder, port);
  try {
    console.log(`${server.name}: ${await running.version}`);
    await untilListening(port, running);
    await tryMails(server, join(folder, 'upper'), port);
  } finally {
    running.child.kill('SIGKILL');
    if (running.child.exitCode === null && running.child.signalCode === null) await once(running.child, 'exit');
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Running {
  readonly child: ChildProcess;
  readonly version: Promise<string>;
  /** The last lines that it has printed. */
  words(): string;
}

/** Installs it in a mount namespace of its own, prints the version and runs it. All of its processes end with the child. */
function start(server: MailServer, folder: string, port: number): Running {
  const script = `set -eu
mkdir -p ${folder}/upper ${folder}/work ${folder}/root
mount -t overlay overlay -o lowerdir=/,upperdir=${folder}/upper,workdir=${folder}/work ${folder}/root
for part in dev dev/pts sys; do mount --rbind /$part ${folder}/root/$part; done
mount -t proc proc ${folder}/root/proc
mount -t tmpfs tmpfs ${folder}/root/run
exec chroot ${folder}/root /bin/sh -c "$INSIDE"`;
  const inside = `set -eu
export PORT=${port} HOME=/root
cd /
${server.install}
echo "version: $(${server.version})"
${server.run}`;
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', '--propagation', 'private', 'sh', '-c', script],
    {
      env: { ...process.env, INSIDE: inside },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  const { promise: version, resolve, reject } = Promise.withResolvers<string>();
  const read = (chunk: Buffer) => {
    output = `${output}${chunk.toString()}`.slice(-20_000);
    const found = /^version: (.*)$/m.exec(output)?.[1];
    if (found !== undefined) resolve(found);
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const words = () => output.trim().split('\n').slice(-5).join(' | ');
  child.once('exit', () => reject(new Error(`it ended: ${words()}`)));
  void setTimeout(longestInstall, undefined, { ref: false }).then(() =>
    reject(new Error('its installation took too long')),
  );
  version.catch(() => undefined);
  return { child, version, words };
}

async function untilListening(port: number, { child, words }: Running): Promise<void> {
  const until = Date.now() + longestStart;
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (child.exitCode !== null) throw new Error(`it ended before it listened: ${words()}`);
    if (Date.now() > until) throw new Error(`it does not listen on port ${port}: ${words()}`);
    await setTimeout(200);
  }
}

function target(port: number): SmtpServer {
  return { host: '127.0.0.1', port, usesImplicitTls: false, user: undefined, password: undefined };
}

function mailTo(to: string, messageId: string): OutgoingMail {
  return {
    from: { name: 'Toko Café', address: 'no-reply@bücher.example' },
    replyTo: undefined,
    to,
    subject: 'Bukti pembayaran – receipt',
    text: `Lunas. ${'https://gateway.example/orders/ORD-7F3K2MQX/receipt '.repeat(20)}\n.\nA line with a dot alone before this one.\n`,
    html: '<p>Lunas</p>',
    messageId,
  };
}

async function tryMails(server: MailServer, root: string, port: number): Promise<void> {
  const sent: string[] = [];
  for (const [index, to] of ['ani@shop.example', 'ani@münchen.example', 'ani@shop.example'].entries()) {
    const id = `trial-${server.name}-${index}@bücher.example`.replace('bücher', 'xn--bcher-kva');
    const outcome = await sendMail(target(port), mailTo(to, id));
    check(`mail to ${to}`, outcome.kind === 'sent', JSON.stringify(outcome));
    sent.push(id);
  }
  const probed = await probeServer(target(port), { sender: 'no-reply@bücher.example', recipient: 'ani@shop.example' });
  check('doctor', probed === undefined, JSON.stringify(probed));
  for (const special of server.cases) sent.push(...(await trySpecial(server, special, port)));
  await untilDelivered(server, root, port, sent);
}

/** @returns the ids of mails that it must have taken */
async function trySpecial(
  server: MailServer,
  { name, recipient, kind, words = '' }: SpecialCase,
  port: number,
): Promise<string[]> {
  const id = `trial-${server.name}-${recipient}@xn--bcher-kva.example`;
  const outcome = await sendMail(target(port), mailTo(`${recipient}@shop.example`, id));
  check(name, outcome.kind === kind && JSON.stringify(outcome).includes(words), JSON.stringify(outcome));
  return kind === 'sent' ? [id] : [];
}

/** Each mail is there once, and no other of the trial is. */
async function untilDelivered(server: MailServer, root: string, port: number, ids: readonly string[]): Promise<void> {
  const until = Date.now() + longestDelivery;
  for (;;) {
    const found = (await readIds(server, root, port)).toSorted();
    if (JSON.stringify(found) === JSON.stringify(ids.toSorted()) || Date.now() > until) {
      check(
        `${ids.length} mails once each`,
        found.join() === ids.toSorted().join(),
        `found ${found.join(', ') || 'none'}`,
      );
      return;
    }
    await setTimeout(500);
  }
}

async function readIds({ mailboxes }: MailServer, root: string, port: number): Promise<string[]> {
  if (mailboxes === undefined) {
    const response = await fetch(`http://127.0.0.1:${port + 1}/api/v1/messages`);
    const { messages } = (await response.json()) as { messages: { MessageID: string }[] };
    return messages.map(({ MessageID }) => MessageID);
  }
  await mkdir(join(root, mailboxes), { recursive: true });
  const files = globSync('**/*', { cwd: join(root, mailboxes), withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap((entry) =>
    [...readFileSync(join(entry.parentPath, entry.name), 'utf8').matchAll(/^Message-ID: <(trial-[^>]+)>/gim)].map(
      ([, id = '']) => id,
    ),
  );
}

function check(name: string, isGood: boolean, found: string): void {
  console.log(`  ${isGood ? 'ok  ' : 'FAIL'} ${name}${isGood ? '' : `: ${found}`}`);
  if (!isGood) failures++;
}

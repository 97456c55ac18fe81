import { Command as Parser } from 'commander';
import { expect, it } from 'vitest';
import { explainErrors } from '#core/extension/commands/explain-errors.ts';
import {
  createAnnouncement,
  findAnnouncement,
  listAnnouncements,
} from '../../../plugins/announcements/announcements.ts';
import { type ActionPage, describeActionPages, useActionPages } from '../../support/action-pages.ts';
import { startGateway } from '../../support/gateway.ts';
import { PageClient } from '../../support/page-client.ts';
import { registeredHere } from '../../support/registered.ts';
import { listToldActions } from '../../support/told-actions.ts';

const registry = await registeredHere();
const world = useActionPages(
  `mail: { smtp: "smtp://127.0.0.1:9", from: shop@example.com }
`,
  '',
);
const { operator } = world;

const announced = {
  kind: 'note',
  audience: 'customers',
  since: '2040-01-01T00:00',
  until: '2040-01-02T00:00',
  text_en: 'We move.',
  text_id: 'Kami pindah.',
};

const announce = () =>
  createAnnouncement(
    world.gateway.gateway.host,
    {
      kind: 'note',
      audience: 'all',
      model: undefined,
      text: { en: crypto.randomUUID(), id: 'Kami pindah.' },
      since: '2040-01-01T00:00Z',
      until: '2040-01-02T00:00Z',
    },
    { createdBy: operator, isMailed: false },
  );
const lateAnnouncement = [{ ...announced, until: '2039-12-31T00:00' }, 'Must be after the start'] as const;

const pages: readonly ActionPage[] = [
  {
    path: '/operator/announcements/new',
    action: 'announcement.create',
    async subject() {
      const before = (await listAnnouncements(world.gateway.database, 100)).length;
      const state = async () => (await listAnnouncements(world.gateway.database, 100)).length - before;
      return { path: '/operator/announcements/new', id: 'announcements', state };
    },
    wrong: [
      lateAnnouncement,
      [{ ...announced, text_id: ' ' }, 'Fill in this field.'],
      [{ ...announced, text_en: 'x'.repeat(301) }, 'This is too long.'],
      [{ ...announced, since: '2039-12-31T10:75' }, 'Check this field.'],
      [{ ...announced, model: 'never-there' }, 'This gateway has no such model.'],
    ],
    right: announced,
    does: [0, 1],
    note: expect.stringMatching(
      /^kind: note, audience: customers, since: .+Z, until: .+Z, text_en: We move\., text_id: Kami pindah\.$/,
    ),
  },
  {
    path: '/operator/announcements/{id}',
    action: 'announcement.change',
    async subject() {
      const { id } = await announce();
      const state = async () => (await findAnnouncement(world.gateway.database, id))?.audience;
      return { path: `/operator/announcements/${id}`, id: 'announcements', state };
    },
    wrong: [lateAnnouncement],
    right: announced,
    does: ['all', 'customers'],
    note: expect.stringMatching(/^kind: note, audience: customers, /),
  },
  {
    path: '/operator/announcements/{id}/end',
    action: 'announcement.end',
    async subject() {
      const { id } = await announce();
      const state = async () => (await findAnnouncement(world.gateway.database, id))?.endedAt !== undefined;
      return { path: `/operator/announcements/${id}/end`, id: 'announcements', state };
    },
    right: {},
    does: [false, true],
    note: undefined,
  },
];

describeActionPages(pages, () => world);

it('an announcement is not mailed where mail is off', async () => {
  await using plain = await startGateway({ yaml: world.yaml.replace(/^mail: .*$/m, '') });
  const client = new PageClient(plain.url);
  await client.submit('/sign-in', '/sign-in', { name: 'Ada', email: operator });
  const { status, text } = await client.submit('/operator/announcements/new', '/operator/announcements/new', {
    ...announced,
    mail: 'true',
  });
  expect([status, text.includes('Mail is not set up: set mail.smtp in gateway.yaml.')]).toEqual([422, true]);
});

/** Runs `daypass announcement …` beside the gateway. @returns what it prints */
async function command(...words: string[]): Promise<string> {
  const lines: string[] = [];
  const parser = new Parser('announcement').exitOverride().configureOutput({ writeErr: () => undefined });
  registry.commands.get('announcement')?.define(parser, {
    withHost: (work) => explainErrors(work(world.gateway.gateway.host)),
    print: (line) => void lines.push(line),
  });
  for (const one of parser.commands) one.exitOverride().configureOutput({ writeErr: () => undefined });
  await parser.parseAsync(words, { from: 'user' });
  return lines.join('\n');
}

const said = ['--audience', 'all', '--since', '2040-01-01T00:00Z', '--until', '2040-01-02T00:00+07:00'];
const texts = ['--text-en', 'The database moves.', '--text-id', 'Database dipindahkan.'];

it('a command announces, lists, changes and ends, on record', async () => {
  const create = await command('create', '--kind', 'maintenance', ...said, ...texts, '--json');
  const { announcement: id, mails } = JSON.parse(create) as { announcement: string; mails: number };
  expect(mails).toBe(0);
  expect(await command('list')).toMatch(
    new RegExp(`${id} +maintenance +all .* open +command .* The database moves\\.`),
  );
  expect(await command('change', id, '--kind', 'note', ...said, ...texts)).toBe(`done, announcement: ${id}`);
  expect(await findAnnouncement(world.gateway.database, id)).toMatchObject({ kind: 'note', endedAt: undefined });
  const local = ['--since', '2039-12-31 20:00', '--time-zone', 'Asia/Jakarta'];
  await command('change', id, '--kind', 'note', ...said, ...local, ...texts);
  expect((await findAnnouncement(world.gateway.database, id))?.from).toBe(Date.parse('2039-12-31T13:00Z'));
  expect(await command('end', id, '--yes')).toBe(`done, announcement: ${id}`);
  expect((await findAnnouncement(world.gateway.database, id))?.endedAt).toBeGreaterThan(0);
  const records = await listToldActions(world.gateway.database, { subject: 'announcements', limit: 3 });
  expect(records.map(({ action }) => action)).toEqual([
    'announcement.end',
    'announcement.change',
    'announcement.change',
  ]);
  expect(records[0]?.operator).toMatch(/^command \(.+\)$/);
});

it.each([
  ['a time without its zone', ['--since', '2040-01-01T00:00'], /It must be a time/],
  ['a time that does not exist', ['--since', '2039-13-01T00:00Z'], /It must be a time/],
  ['a kind that does not exist', ['--kind', 'party'], /Allowed choices are maintenance, note/],
])('a command refuses %s', async (_name, wrong, message) => {
  await expect(command('create', '--kind', 'note', ...said, ...texts, ...wrong)).rejects.toThrow(message);
});

it('a command that ends an announcement asks first, and says when there is none', async () => {
  const { id } = await announce();
  await expect(command('end', id)).rejects.toMatchObject({ exitCode: 2, message: expect.stringContaining('--yes') });
  expect((await findAnnouncement(world.gateway.database, id))?.endedAt).toBeUndefined();
  const unknown = '00000000-0000-0000-0000-000000000000';
  await expect(command('end', unknown, '--yes')).rejects.toMatchObject({ exitCode: 3 });
});

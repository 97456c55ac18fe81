import { expect, it } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { data, listen } from '#core/config/sections/core-sections.ts';
import { keepFixed } from '#core/extension/validation/fixed-members.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { complete, createRegistry } from '../../config/fixture.ts';

const registry = createRegistry();
const load = (text: string) => validate(parseDocument(complete(text), 'gateway.yaml', {}), registry);
const reload = (before: string, after: string) => keepFixed(load(after), load(before), registry.sections.values());

it('a fixed section keeps its running value, and is postponed', () => {
  const { config, postponed } = reload('data: { folder: ./one }', 'data: { folder: ./two }');
  expect(postponed).toEqual(['data']);
  expect(config.get(data)).toMatchObject({ folder: './one' });
});

it('of a section with fixed members only these keep their running values', () => {
  const { config, postponed } = reload('listen: { port: 1 }', 'listen: { port: 2, drain_timeout: 7 }');
  expect(postponed).toEqual(['listen.port']);
  expect(config.get(listen)).toMatchObject({ port: 1, drain_timeout: 7 });
});

it('a reload without fixed changes postpones nothing', () => {
  expect(reload('listen: { port: 1 }', 'listen: { port: 1, drain_timeout: 7 }').postponed).toEqual([]);
});

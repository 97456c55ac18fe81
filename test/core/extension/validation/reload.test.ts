import { Ajv } from 'ajv';
import { afterEach, expect, it, vi } from 'vitest';
import { parseDocument } from '#core/config/file/document.ts';
import { listen } from '#core/config/sections/core-sections.ts';
import { validate } from '#core/extension/validation/validate-config.ts';
import { complete, createRegistry } from '../../config/fixture.ts';

afterEach(() => vi.restoreAllMocks());

const documentOf = (text: string) => parseDocument(complete(text), 'gateway.yaml', {});

it('a reload compiles no schema again, because compiled schemas stay in memory', () => {
  const registry = createRegistry();
  validate(documentOf('service: { name: a }'), registry);
  const compile = vi.spyOn(Ajv.prototype, 'compile');
  validate(documentOf('service: { name: b }'), registry);
  expect(compile).not.toHaveBeenCalled();
});

it('a reload has its own copy of the defaults', () => {
  const registry = createRegistry();
  const first = validate(documentOf('listen: {}'), registry).get(listen);
  const second = validate(documentOf('listen: {}'), registry).get(listen);
  expect(second.trusted_proxies).not.toBe(first.trusted_proxies);
});

it('a mistake of one load is not reported in the next', () => {
  const registry = createRegistry();
  expect(() => validate(documentOf('listen: { port: -1 }'), registry)).toThrow('listen.port');
  expect(validate(documentOf('listen: { port: 1 }'), registry).get(listen).port).toBe(1);
});

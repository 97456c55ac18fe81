import { describe, expect, it } from 'vitest';
import { readAudit } from '../../.ci/audit.ts';
import { isAllowed, licenceOf } from '../../.ci/licences.ts';

describe('a licence', () => {
  it.each(['MIT', '(MIT OR GPL-3.0-only)', 'BSD-3-Clause AND ISC', 'GPL-2.0 OR (MIT AND Apache-2.0)'])(
    'is allowed as %s',
    (expression) => {
      expect(isAllowed(expression, false)).toBe(true);
    },
  );

  it.each(['GPL-3.0-only', 'AGPL-3.0', 'MIT AND GPL-3.0-only', 'SEE LICENSE IN LICENSE', 'UNLICENSED', 'BUSL-1.1', ''])(
    'is not allowed as %s',
    (expression) => {
      expect(isAllowed(expression, true)).toBe(false);
    },
  );

  it('of tools may be a weak copyleft', () => {
    expect([isAllowed('MPL-2.0', true), isAllowed('MPL-2.0', false)]).toEqual([true, false]);
  });

  it.each([
    [{ license: 'MIT' }, 'MIT'],
    [{ license: { type: 'ISC' } }, 'ISC'],
    [{ licenses: [{ type: 'MIT' }, { type: 'Apache-2.0' }] }, 'MIT OR Apache-2.0'],
    [{}, undefined],
  ])('is read from %j', (manifest, licence) => {
    expect(licenceOf(manifest)).toBe(licence);
  });
});

const vulnerability = (severity: string) => ({
  name: 'left-pad',
  severity,
  range: '<1.0.0',
  via: [{ title: 'Too far left', url: 'https://example.com/1' }, 'pad'],
  fixAvailable: true,
});
const line = (severity: string) =>
  `left-pad <1.0.0: ${severity}: Too far left, https://example.com/1; through pad (run \`npm audit fix\`)`;

describe('an audit', () => {
  it.each(['high', 'critical'])('fails for a vulnerability that is %s', (severity) => {
    const output = JSON.stringify({ vulnerabilities: { 'left-pad': vulnerability(severity) } });
    expect(readAudit(output)).toEqual({ severe: [line(severity)], mild: [] });
  });

  it.each(['moderate', 'low'])('reports one that is %s', (severity) => {
    const output = JSON.stringify({ vulnerabilities: { 'left-pad': vulnerability(severity) } });
    expect(readAudit(output)).toEqual({ severe: [], mild: [line(severity)] });
  });

  it.each([
    ['nothing', '', 'no answer from the registry'],
    ['an error of the registry', '{ "message": "405 Method Not Allowed" }', '405 Method Not Allowed'],
    ['an error of the network', '{ "error": { "summary": "getaddrinfo ENOTFOUND" } }', 'getaddrinfo ENOTFOUND'],
  ])('is skipped, with the reason, after %s', (_name, output, skipped) => {
    expect(readAudit(output)).toEqual({ severe: [], mild: [], skipped });
  });
});

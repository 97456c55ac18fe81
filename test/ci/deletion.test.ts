import { describe, expect, it } from 'vitest';
import { findLostTexts, compareFailures, listPlugins, readCapabilities } from '../../.ci/deletion-rules.ts';

const files = [
  'plugins/operator',
  'plugins/operator-api',
  'views/operator',
  'test/plugins/operator',
  'test/plugins/operator-api',
  'test/plugins/operator.test.ts',
  'test/plugins/operator-pages.integration.test.ts',
  'test/support/fake-operator.ts',
];
const find = (glob: string) => {
  const pattern = new RegExp(`^${glob.replaceAll('.', String.raw`\.`).replace(String.raw`[\.-]*`, '[.-].*')}$`);
  return files.filter((file) => pattern.test(file));
};

describe('a capability', () => {
  it('takes its plugin, its views, its tests and what its row lists along, and nothing of another', () => {
    const [capability] = readCapabilities({ operator: { of: ['test/support/fake-operator.ts'] } }, find);
    expect(capability?.of?.toSorted()).toEqual(
      files.filter((file) => file !== 'plugins/operator-api' && file !== 'test/plugins/operator-api').toSorted(),
    );
  });

  it('that is spread over folders takes nothing', () => {
    const [capability] = readCapabilities({ margins: 'not a folder yet' }, find);
    expect(capability).toMatchObject({ name: 'margins', of: undefined });
  });

  it('that has become a folder may no longer be called none', () => {
    expect(() => readCapabilities({ operator: 'not a folder yet' }, find)).toThrow('operator is a folder now');
  });

  it('whose row is a text of another kind is refused', () => {
    expect(() => readCapabilities({ margins: 'later' }, find)).toThrow('margins must be a map or "not a folder yet"');
  });
});

describe('a failure', () => {
  const demo = { name: 'demo', of: [], lines: [], expected: { imports: ['a: imports b'] } };

  it('passes while it is expected', () => {
    expect(compareFailures(demo, 'imports', ['a: imports b'])).toEqual([]);
  });

  it('that the list does not expect is a mistake', () => {
    expect(compareFailures(demo, 'imports', ['a: imports b', 'c: imports b'])).toEqual([
      'demo (imports): c: imports b',
    ]);
    expect(compareFailures(demo, 'pages', ['a: imports b'])).toEqual(['demo (pages): a: imports b']);
  });

  it('that is expected and gone is a mistake, so that the list shrinks', () => {
    expect(compareFailures(demo, 'imports', [])).toEqual([
      'demo (imports): no longer fails; take it out of .ci/deletion.yaml: a: imports b',
    ]);
  });
});

it('a text that code asks for, and that only the deleted folder had, is lost', () => {
  const sources = new Map([
    ['plugins/probes/pages.ts', `t('operator.route') + t('probes.title') + t('shared.text')`],
    ['plugins/mail/compose.ts', `'order.paid'`],
  ]);
  const kept = new Set(['probes.title', 'shared.text']);
  expect(findLostTexts(['operator.route', 'shared.text'], kept, sources)).toEqual([
    'plugins/probes/pages.ts: text "operator.route" does not exist',
  ]);
});

it('a deletion takes the plugins from the drawing of the folders, not what it says of all of them', () => {
  const drawing = [
    '    plugins/              one folder per capability',
    '      auth rate-limit     two stages',
    '      keys                one endpoint',
    '    views/                templates',
  ].join('\n');
  expect(listPlugins(drawing)).toEqual(['auth', 'rate-limit', 'keys']);
});

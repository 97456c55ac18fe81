import { describe, expect, it } from 'vitest';
import type { ModelFeature } from '#core/config/catalog/abilities.ts';
import { mergeProfiles, type ProfileSettings } from '#core/config/catalog/profile.ts';
import {
  describeMatrix,
  findUselessBackups,
  type Support,
  determineSupport,
} from '../../../../plugins/format/catalog/matrix.ts';
import { type Format, descriptors } from '../../../support/formats.ts';
import { routeTo, upstreamAt } from '../../upstream/fixture.ts';
import { hostOf, modelOf } from './catalog-fixture.ts';

const routeOf = (formats: readonly Format[], profile: ProfileSettings = {}) =>
  routeTo(upstreamAt('http://127.0.0.1:1/v1', { formats }), { profile: mergeProfiles(profile) });

describe('a route', () => {
  it('a route of the client’s format supports every feature', () => {
    const quirks = { freeform_tools: true };
    expect(determineSupport(descriptors.chat, routeOf(['chat'], { quirks }), 'tools')).toBe('yes');
  });

  it('a route of the client’s format without freeform tools gets them as functions', () => {
    expect(determineSupport(descriptors.responses, routeOf(['responses']), 'tools')).toEqual({
      losses: ['the grammar of freeform tools is described, not enforced'],
    });
  });

  it('a route without a capability does not support features that need it', () => {
    expect(determineSupport(descriptors.chat, routeOf(['chat'], { capabilities: { images: false } }), 'images')).toBe(
      'no',
    );
  });

  it('an image route serves no conversations', () => {
    expect(determineSupport(descriptors.messages, routeOf(['images']), 'stream')).toBe('no');
  });

  it('a route of another format names what is lost', () => {
    expect(determineSupport(descriptors.messages, routeOf(['chat']), 'reasoning')).toEqual({
      losses: ['reasoning has no signature'],
    });
  });

  it.each<[ModelFeature, ProfileSettings, Support]>([
    ['tools', { quirks: { forced_tools: false, freeform_tools: true } }, { losses: ['tool calls cannot be forced'] }],
    ['parallel tools', { quirks: { parallel_switch: false } }, { losses: ['parallel tool calls cannot be disabled'] }],
    ['reasoning', { quirks: { reasoning: 'none' } }, { losses: ['reasoning effort cannot be set'] }],
    ['reasoning', { quirks: { responses_for_tools: true } }, { losses: ['no reasoning together with tools'] }],
    [
      'structured output',
      { capabilities: { structured_output: 'none' } },
      { losses: ['the schema is in the prompt; nothing is enforced'] },
    ],
  ])('of the client’s own format lists what it is known to refuse of %s: %j', (feature, profile, support) => {
    expect(determineSupport(descriptors.chat, routeOf(['chat'], profile), feature)).toEqual(support);
  });

  it('a feature that the client format lacks is not reported as lost', () => {
    const route = routeOf(['chat'], { quirks: { parallel_switch: false } });
    expect(determineSupport(descriptors.gemini, route, 'parallel tools')).toBe('yes');
    expect(determineSupport(descriptors.messages, route, 'parallel tools')).not.toBe('yes');
  });

  it('a route of the client’s format reports what happens to images in tool results', () => {
    const route = routeOf(['gemini'], { quirks: { tool_result_images: false } });
    expect(determineSupport(descriptors.gemini, route, 'images')).toEqual({
      losses: ['images in tool results are sent in a user message'],
    });
  });

  it('a route that needs another endpoint for tools with reasoning loses what that endpoint cannot express', () => {
    const route = routeOf(['responses', 'chat'], { quirks: { responses_for_tools: true } });
    expect(determineSupport(descriptors.chat, route, 'tools')).toEqual({
      losses: ['the grammar of freeform tools is described, not enforced'],
    });
    expect(determineSupport(descriptors.chat, route, 'reasoning')).toBe('yes');
  });

  it('a vendor without output schemas gets them in the prompt', () => {
    const route = routeOf(['chat'], { capabilities: { structured_output: 'object' } });
    expect(determineSupport(descriptors.responses, route, 'structured output')).toEqual({
      losses: ['the schema is in the prompt; only JSON is enforced'],
    });
  });
});

it('the matrix has a row for each route and client format, and names each loss once', () => {
  const lines = describeMatrix(hostOf([modelOf('a', ['chat']), modelOf('b', ['messages'])]).catalog);
  expect(lines.filter((line) => /^ {2}[ab] +chat +\S+\/model-there /.test(line))).toHaveLength(8);
  const losses = lines.filter((line) => /^ {2}\d+: /.test(line)).map((line) => line.slice(5));
  expect(new Set(losses).size).toBe(losses.length);
});

it('the matrix names the kind of each model, and has one row for a route of a kind without conversations', () => {
  const painter = modelOf('painter', ['images', 'chat'], { kind: 'image' });
  const lines = describeMatrix(hostOf([modelOf('talker', ['chat']), painter]).catalog);
  expect(lines.filter((line) => /^ {2}talker +chat +\S+\/model-there /.test(line))).toHaveLength(4);
  const [row, ...others] = lines.filter((line) => line.startsWith('  painter '));
  expect(row).toMatch(/^ {2}painter +image +\S+\/model-there +images +images$/);
  expect(others).toEqual([]);
});

const backups = (formats: readonly Format[][]) =>
  findUselessBackups(hostOf([modelOf('test', [], { routes: formats.map((one) => routeOf(one)) })]).catalog);

describe('a backup', () => {
  it('a backup of another text format can take over', () => {
    expect(backups([['chat'], ['messages']])).toEqual([]);
  });

  it('an image route cannot take over conversations', () => {
    expect(backups([['chat'], ['images']])).toMatchObject([
      { model: 'test', right: expect.stringContaining('remove it') },
    ]);
  });
});

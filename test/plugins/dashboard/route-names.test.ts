import { describe, expect, it } from 'vitest';
import { listen } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { AnyStageDefinition } from '#core/gateway/pipeline/stage.ts';
import { createRouteNames } from '../../../plugins/dashboard/route-names.ts';
import { dashboardSection, findHigherLimitsLink } from '../../../plugins/dashboard/section.ts';
import { mistakesIn, readYaml } from '../../core/business/accounts/yaml-fixture.ts';
import { hostOf, modelOf } from '../format/catalog/catalog-fixture.ts';
import { routeTo, upstreamAt } from '../upstream/fixture.ts';

const stage: AnyStageDefinition = { name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) };
const known = { sections: [listen, dashboardSection], stages: [stage] };

const routes = [routeTo(upstreamAt('http://127.0.0.1:1')), routeTo(upstreamAt('http://127.0.0.1:2'))].map(
  (route, index) => ({ ...route, id: `vendor-${index}/gpt` }),
);

function hostWith(yaml = '', contact?: string): Host {
  const config = readYaml(`pipeline: [any]\n${yaml}`, known);
  const { catalog, service } = hostOf([modelOf('gpt-6-sol', ['chat'], { routes })]);
  const host: Partial<Host> = { catalog, service: { ...service, contact }, section: (section) => config.get(section) };
  return host as Host;
}

const t = (key: string, values = {}) => [key, ...Object.values(values)].join(' ');

function labelsAs(sight: string, isOperator = false) {
  const names = createRouteNames({ host: hostWith(`dashboard: { routes: ${sight} }`), isOperator, t });
  return ['vendor-0/gpt', 'vendor-1/gpt', 'gone/gpt'].map((route) => names.label(route, 'dp/gpt-6-sol'));
}

describe('routes that customers see', () => {
  it('have their names unless gateway.yaml says otherwise', () => {
    const names = createRouteNames({ host: hostWith(), isOperator: false, t: String });
    expect([names.label('vendor-0/gpt', 'dp/gpt-6-sol'), names.areUpstreamMessagesShown]).toEqual([
      'vendor-0/gpt',
      false,
    ]);
  });

  it('have the number of their place in the list of the model', () => {
    expect(labelsAs('numbers')).toEqual([
      'requests.route.number 1',
      'requests.route.number 2',
      'requests.route.former',
    ]);
  });

  it('have no label when they are hidden', () => {
    expect(labelsAs('hidden')).toEqual(['', '', '']);
  });

  it.each(['numbers', 'hidden'])('have their names for operators even when customers see them as %s', (sight) => {
    expect(labelsAs(sight, true)).toEqual(['vendor-0/gpt', 'vendor-1/gpt', 'gone/gpt']);
  });

  it('of a request without a model have no number', () => {
    const names = createRouteNames({ host: hostWith('dashboard: { routes: numbers }'), isOperator: false, t: String });
    expect(names.label('vendor-0/gpt', null)).toBe('requests.route.former');
  });
});

describe('the section dashboard', () => {
  it.each(['{ routes: secret }', '{ higher_limits: "javascript:alert(1)" }', '{ route: names }'])(
    'refuses %s',
    (section) => {
      expect(mistakesIn(`pipeline: [any]\ndashboard: ${section}`, known)).not.toEqual([]);
    },
  );

  it('leads customers who want higher limits to its link, else to the contact', () => {
    const contact = 'mailto:help@example.com';
    const link = 'https://example.com/limits';
    expect([
      findHigherLimitsLink(hostWith(`dashboard: { higher_limits: "${link}" }`, contact)),
      findHigherLimitsLink(hostWith('', contact)),
      findHigherLimitsLink(hostWith()),
    ]).toEqual([link, contact, '']);
  });
});

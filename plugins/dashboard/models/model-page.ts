import { historyDays } from '#core/business/model-health/readings.ts';
import type { Registry } from '#core/extension/registry.ts';
import { describeSamples } from '#core/web/pages/code-samples.ts';
import { describeModelState } from '#core/web/pages/model-state.ts';
import { PageError } from '#core/web/pages/page-error.ts';
import { type Page, type PageRequest, Redirect } from '#core/web/pages/page.ts';
import { createExampleCall } from '../code/example-call.ts';
import { codeLanguages, writeCode } from '../code/write-code.mjs';
import { connectPath, tryPath } from '../paths.ts';
import { createRouteNames } from '../route-names.ts';
import { describeDetail } from './describe-detail.ts';
import { listCapabilities, describeHistory, describeSpeed, uptimeDigits } from './describe-row.ts';
import { describeNoPass } from './models-page.ts';
import { buildModelPath, modelsPath } from './query.ts';
import { listedDays, type ModelReading, readModels } from './read-models.ts';

const uptimeDays = [7, listedDays, historyDays] as const;

export function createModelPage(gateway: Registry): Page {
  return {
    path: `${modelsPath}/{name*}`,
    role: 'account',
    title: 'models.model_title',
    template: 'dashboard/models/model.eta',
    styles: ['dashboard/models/models.css'],
    scripts: ['htmx.js'],
    async show(request) {
      const { host, params } = request;
      const requestedModel = host.catalog.resolve(params['name'] ?? '');
      if (requestedModel === undefined) throw new PageError(404, 'models.not_found');
      // The path contains an alias, or the name without its prefix.
      if (requestedModel.publicName !== params['name']) return new Redirect(buildModelPath(requestedModel.publicName));
      const reading = (await readModels(gateway, request)).find(({ model }) => model === requestedModel);
      if (reading === undefined) throw new PageError(404, 'models.not_found');
      return { ...describeModel(reading, request), noPass: await describeNoPass(request) };
    },
  };
}

function describeModel(reading: ModelReading, request: PageRequest) {
  const { host, t } = request;
  const { model, abilities, health, aliases } = reading;
  const { publicName, displayName, id, kind } = model;
  const query = `model=${encodeURIComponent(publicName)}`;
  return {
    name: publicName,
    about: [...(displayName === id ? [] : [displayName]), t(`models.kind.${kind}`), ...reading.notes].join(' · '),
    status: describeModelState(health, request, host.now()),
    can: listCapabilities(model, abilities, t),
    listPath: modelsPath,
    tryPath: `${tryPath}?${query}`,
    connectPath: kind === 'chat' ? `${connectPath}?${query}` : '',
    tiles: describeTiles(reading, request),
    ...describeHistory(reading, historyDays, request),
    uptimes: describeUptimes(reading, request),
    code: describeCode(reading, request),
    aliases: aliases.map((name, index) => ({ id: `alias-${index}`, name })),
    detail: describeDetail(reading, createRouteNames(request), request),
  };
}

function describeTiles(reading: ModelReading, { t, format }: PageRequest) {
  const { maxInputTokens, maxOutputTokens } = reading.abilities;
  const { firstToken, speed } = describeSpeed(reading, format);
  const week = t('models.last_week');
  const limit = (count: number | undefined) => ({
    value: count === undefined ? '—' : format.limit(count),
    note: count === undefined ? t('models.unknown') : t('models.tokens', { count: format.number(count) }),
  });
  const figure = (value: string) => ({
    value: value === '' ? '—' : value,
    note: value === '' ? t('models.unmeasured') : week,
  });
  return [
    { label: t('models.column.context'), ...limit(maxInputTokens) },
    { label: t('models.column.output'), ...limit(maxOutputTokens) },
    { label: t('models.column.first'), ...figure(firstToken) },
    { label: t('models.column.speed'), ...figure(speed) },
  ];
}

function describeUptimes(reading: ModelReading, { t, format }: PageRequest) {
  return uptimeDays.map((days) => {
    const share = reading.uptime(days);
    return {
      label: t('models.last_days', { count: days }),
      value: share === undefined ? '—' : format.percent(share, uptimeDigits),
    };
  });
}

function describeCode({ model }: ModelReading, { host, query, t }: PageRequest) {
  const call = createExampleCall(model, `${host.service.baseUrl}/v1`, t('models.example'));
  const samples = codeLanguages.map(({ id, label }) => ({ id, name: label, code: writeCode(id, call) }));
  const buildPath = (id: string) => `${buildModelPath(model.publicName)}?code=${id}`;
  return { panel: 'samples', ...describeSamples(samples, query['code'], t('models.code'), buildPath) };
}

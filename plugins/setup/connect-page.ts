import type { Server } from '@hapi/hapi';
import { readAccounts } from '#core/business/accounts/account-record.ts';
import { accountOf, type Page, type PageRequest } from '#core/web/pages/page.ts';
import { wellKnownPaths } from '#core/web/pages/paths.ts';
import { percentEncodeUrl } from '#core/web/pages/setup-command.ts';
import { listSetupModels } from './defaults.ts';
import { describeTool, formatToolName } from './describe-tool.ts';
import { describeOneCommand } from './one-command.ts';
import { type Reader, type System, systems } from './reader.ts';
import { readScripts, type SetupScripts } from './script/scripts.ts';
import type { SetupTool } from './tool.ts';
import { groups, tools } from './tools.ts';
import { findValues } from './values.ts';

const path = wellKnownPaths.connect;

const allTools = 'all';

type Gateway = Server['gateway'];

interface Choice {
  readonly tool: SetupTool | undefined; // undefined to set up all tools at once
  readonly reader: Reader;
}

export function createConnectPage({ gateway }: Pick<Server, 'gateway'>): Page {
  return {
    path,
    role: 'account',
    title: 'setup.title',
    navigation: { label: 'setup.navigation', icon: 'plug', order: 40 },
    template: 'setup/connect.eta',
    styles: ['setup/connect.css'],
    scripts: ['htmx.js'],
    async show(request) {
      const panel = await describePanel(gateway, request);
      return panel.isEmpty ? panel : { ...panel, ...describeChoices(gateway, request) };
    },
    // `health`: a reload of gateway.yaml changes the models and the script's checksum. `account`: rotating the key changes its hint.
    live: {
      topics: ['account', 'health'],
      parts: { panel: 'setup/connect/panel.eta' },
      values: (request) => describePanel(gateway, request),
    },
  };
}

function describeChoices(gateway: Gateway, request: PageRequest) {
  const { host, t } = request;
  const { tool, reader } = parseChoice(gateway, request);
  const { system, chosenModel } = reader;
  const id = tool?.id ?? allTools;
  return {
    path,
    all: { id: allTools, isCurrent: tool === undefined, path: buildPath(allTools, reader) },
    groups: groups.map((group) => ({
      id: group,
      title: t(`setup.group.${group}`),
      tools: tools
        .filter((listed) => listed.group === group)
        .map((listed) => ({
          id: listed.id,
          name: formatToolName(listed, t),
          isCurrent: listed === tool,
          path: buildPath(listed.id, reader),
        })),
    })),
    system,
    systems: systems.map((listed) => ({
      id: listed,
      name: t(`setup.system.${listed}`),
      isCurrent: listed === system,
      path: buildPath(id, { ...reader, system: listed }),
    })),
    models: listSetupModels(host, gateway).map(({ name }) => ({ name, isCurrent: name === chosenModel })),
  };
}

async function describePanel(gateway: Gateway, request: PageRequest) {
  const { host } = request;
  // Must come first, because it reads the capabilities of thousands of models in separate turns of the event loop.
  const scripts = await readScripts(host, gateway);
  const { tool, reader } = parseChoice(gateway, request);
  const setupCommand = tool === undefined ? describeSetupCommand(scripts, reader) : undefined;
  const toolSteps = tool && describeToolSteps(host, gateway, tool, reader);
  if (setupCommand === undefined && toolSteps === undefined) return { isEmpty: true };
  return {
    isEmpty: false,
    setupCommand,
    tool: toolSteps,
    allPath: buildPath(allTools, reader),
    addresses: describeUrls(request),
    hint: await readKeyHint(request),
  };
}

function describeToolSteps(host: PageRequest['host'], gateway: Gateway, tool: SetupTool, reader: Reader) {
  const values = findValues(host, gateway, tool.formats[0], reader.chosenModel);
  return values && describeTool(tool, values, reader);
}

function describeSetupCommand({ sh, ps1, data }: SetupScripts, reader: Reader) {
  if (data === undefined) return undefined;
  const { sha256 } = reader.system === 'windows' ? ps1 : sh;
  const toolNames = data.tools.filter(({ isOnRequest }) => !isOnRequest).map(({ name }) => name);
  return describeOneCommand({ sha256, tools: toolNames, slug: data.slug }, reader);
}

function describeUrls({ host, t }: PageRequest) {
  const baseUrl = percentEncodeUrl(host.service.baseUrl);
  return [
    { id: 'openai-url', label: t('setup.openai_url'), value: `${baseUrl}/v1` },
    { id: 'other-url', label: t('setup.other_url'), value: baseUrl },
  ];
}

function parseChoice(gateway: Gateway, request: PageRequest): Choice {
  const { host, query, t } = request;
  const chosenModel = listSetupModels(host, gateway).find(({ name }) => name === query['model'])?.name;
  return {
    tool: query['tool'] === allTools ? undefined : (tools.find(({ id }) => id === query['tool']) ?? tools[0]),
    reader: { t, system: chooseSystem(request), baseUrl: host.service.baseUrl, chosenModel },
  };
}

function chooseSystem({ query, userAgent }: PageRequest): System {
  const chosen = systems.find((system) => system === query['system']);
  if (chosen !== undefined) return chosen;
  if (/Windows/.test(userAgent)) return 'windows';
  return /Mac OS X|Macintosh/.test(userAgent) ? 'macos' : 'linux';
}

function buildPath(tool: string, { system, chosenModel }: Reader): string {
  const query = { tool, system, ...(chosenModel !== undefined && { model: chosenModel }) };
  return `${path}?${new URLSearchParams(query).toString()}`;
}

async function readKeyHint(request: PageRequest): Promise<string> {
  const [record] = await readAccounts(request.host.database, 'id', [accountOf(request).id]);
  return record?.key?.hint ?? '';
}

// Reads the API key and checks it with the gateway. Messages show run.keyHint, not the key.

import { errorMessage, readJson, request } from './gateway.mjs';
import { machine } from './machine.mjs';
import { join } from './paths.mjs';
import { askKey, computer, isWindows, formatOption, printable, run, Stop, warn } from './run.mjs';
import { listStoredTexts } from './variables.mjs';

/** Takes the key from the file, the prompt, the settings (to verify) or the variable. If none has a key, ends the run to ask for it. */
export function readKey() {
  const { keyFile, action } = run.options;
  const enteredKey = machine.read(join(machine.env('SETUP_WORK') ?? '', 'key'));
  if (keyFile) return useKey(readKeyFile(keyFile), `the file ${printable(keyFile)}`, false);
  if (enteredKey) return useKey(enteredKey, 'the input', true);
  if (action === 'verify' && findStoredKey()) return undefined;
  const variable = findKeyVariable();
  if (variable) return useKey(machine.env(variable), `the variable ${variable}`, true);
  return askForKey(
    `No key was given, and no terminal is available to ask for it. Set ${run.data.keyVariable}, or pass ${formatOption('key-file')} FILE.`,
  );
}

function askForKey(message) {
  throw new Stop(canAsk() ? '' : message, canAsk() ? askKey : 1);
}

function canAsk() {
  return machine.env('SETUP_TERMINAL') === 'yes' && !run.options.keyFile && run.keySource !== 'the settings';
}

function useKey(value, source, canRetry) {
  run.keySource = source;
  const problem = tryKey(value.trim());
  if (!problem) return;
  if (canRetry && canAsk()) warn(problem);
  if (canRetry) askForKey(problem);
  throw new Stop(problem);
}

function tryKey(value) {
  const { keyPrefix } = run.data;
  const service = printable(run.data.service);
  if (value === '') return `The key in ${run.keySource} is empty.`;
  if (!/^[A-Za-z0-9_-]+$/.test(value))
    return `The key in ${run.keySource} has characters that no key of ${service} has. Copy it again, without quotes or spaces.`;
  // Keys of other services are never sent.
  if (!new RegExp(`^${keyPrefix}[-_].{12}`).test(value))
    return `The key in ${run.keySource} is not a key of ${service}: those begin with ${keyPrefix}-. Copy it again.`;
  run.key = value;
  run.keyHint = `${value.slice(0, keyPrefix.length + 5)}...${value.slice(-4)}`;
  return '';
}

/** Returns the variable of this service, or DAYPASS_API_KEY unless tools are set up for another service of that name. */
export function findKeyVariable() {
  const { keyVariable, keyPrefix } = run.data;
  if (machine.env(keyVariable)?.trim()) return keyVariable;
  if (hasDifferentDaypass()) return undefined;
  const isOurs = new RegExp(`^\\s*${keyPrefix}[-_]`).test(machine.env('DAYPASS_API_KEY') ?? '');
  return isOurs ? 'DAYPASS_API_KEY' : undefined;
}

function hasDifferentDaypass() {
  // This service may itself have been named Daypass, so its address is compared.
  const { baseUrl } = run.data;
  const folder = isWindows ? join(machine.env('LOCALAPPDATA') ?? '', 'daypass') : `${run.home}/.config/daypass`;
  if (!machine.stat(folder)) return false;
  if (!isWindows) return !(machine.read(join(folder, 'env')) ?? '').includes(`# Written by ${baseUrl}/setup.sh,`);
  const records = ['files', 'variables'].flatMap((kind) =>
    machine.list(join(folder, 'setup', kind)).map((name) => join(folder, 'setup', kind, name)),
  );
  const texts = records.flatMap((record) => ['wanted', 'value'].map((part) => machine.read(join(record, part)) ?? ''));
  return !texts.some((text) =>
    [`${baseUrl}"`, `${baseUrl}/v1`, `${baseUrl}\n`].some((end) => `${text}\n`.includes(end)),
  );
}

/** Uses the key in the tools' settings, which can differ from this shell's variable. Returns false if there is none. */
export function findStoredKey() {
  const pattern = new RegExp(`(?<![A-Za-z0-9_-])${run.data.keyPrefix}[-_][A-Za-z0-9]{40,}(?![A-Za-z0-9_-])`);
  const storedKey = listStoredTexts()
    .map((text) => pattern.exec(text)?.[0])
    .find(Boolean);
  run.keySource = 'the settings';
  return storedKey !== undefined && tryKey(storedKey) === '';
}

function readKeyFile(path) {
  const shown = printable(path);
  if (path === '-')
    throw new Stop(`The key cannot be read from the standard input. Name a file after ${formatOption('key-file')}.`);
  const entry = machine.stat(path);
  if (!entry) throw new Stop(`The key file ${shown} does not exist.`);
  if (entry.kind === 'folder')
    throw new Stop(`The key file ${shown} is a folder. Name a file that holds the key and nothing else.`);
  if (!machine.isReadable(path)) throw new Stop(`The key file ${shown} cannot be read. Check its permissions.`);
  if (!isWindows && entry.kind === 'file' && entry.mode & 0o44)
    warn(`Other users of this ${computer} can read ${shown}. Run: chmod 600 ${shown}`);
  // Reads at most 4 KiB, even of a pipe such as <(pass show key).
  const bytes = machine.read(path, 4096);
  // Windows PowerShell writes files as UTF-16 with a byte order mark.
  return bytes.replace(/^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, '').replace(/\0/g, '');
}

export function checkKey() {
  const response = request('GET', '/v1/key');
  if (response.failure) throw new Stop(`${response.failure} Nothing was changed.`);
  if (response.status === 401) {
    const problem = `${printable(run.data.service)} does not accept the key ${run.keyHint} from ${run.keySource}. Copy it again, or make a new one at ${run.data.baseUrl}.`;
    if (canAsk()) warn(problem);
    askForKey(problem);
  }
  checkPlan(response);
}

function checkPlan(response) {
  const url = `${run.data.baseUrl}/v1/key`;
  if (response.status !== 200)
    throw new Stop(`${errorMessage(response) || `${url} answered with ${response.status}.`} Nothing was changed.`);
  const key = readJson(response.body) ?? {};
  if (typeof key.active_period !== 'object')
    throw new Stop(
      `The answer of ${url} is not that of ${printable(run.data.service)}. A proxy may have changed it; nothing was changed.`,
    );
  if (key.active_period !== null) return;
  // A gateway that needs no plan rejects this empty request as invalid; others first reject it for the missing plan.
  const testResponse = request('POST', '/v1/chat/completions', '{}');
  if (!testResponse.failure && testResponse.status === 400) return;
  const message = testResponse.failure ? '' : errorMessage(testResponse).replace(/\. .*$|\.$/, '');
  const detail = message && message !== 'No active plan' ? `: ${message}` : '';
  const renewal = /^https?:\/\/[!-~]+$/.test(key.renew_url) ? key.renew_url : `${run.data.baseUrl}/buy`;
  throw new Stop(`The key ${run.keyHint} has no active plan${detail}. Choose one at ${renewal}, then run this again.`);
}

export function checkModelOfKey() {
  const { model } = run.options;
  if (!model) return;
  const response = request('GET', '/v1/models');
  if (response.failure || response.status !== 200 || response.body.includes(`"${model}"`)) return;
  throw new Stop(
    `Your key cannot use the model "${model}". Nothing was changed; choose another one with ${formatOption('model')}.`,
  );
}

import type { ImportDraft, Reference } from '../draft.ts';
import type { ImportedObject } from '../members.ts';
import { parseVariable } from './litellm-providers.ts';

export interface DeploymentTarget {
  readonly upstream: string;
  readonly model: string;
}

/** Imports Claude on Amazon Bedrock. Its Messages endpoint uses the same ids. Source: AWS, "Inference using Anthropic Messages API". */
export function importBedrock(
  parameters: ImportedObject,
  model: string,
  draft: ImportDraft,
): DeploymentTarget | undefined {
  const path = parameters.pathOf('model');
  if (!/(?:^|\.)anthropic\./.test(model))
    return draft.note(
      path,
      'Daypass has an endpoint under the same name only for Claude on Bedrock; add the others yourself',
    );
  const region = parameters.readText('aws_region_name');
  if (region === undefined || parseVariable(region) !== undefined || !/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region))
    return draft.note(parameters.pathOf('aws_region_name'), 'the upstream URL needs the literal region');
  const bearerToken = parameters.readText('api_key');
  const [id, secret, session] = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map((name) => {
    const value = parameters.readText(name);
    return value === undefined ? undefined : addSecretOrVariable(name, value, parameters.pathOf(name), draft);
  });
  const awsCredentials =
    id === undefined || secret === undefined
      ? undefined
      : { region, access_key_id: id, secret_access_key: secret, session_token: session };
  const keys =
    awsCredentials === undefined
      ? [addSecretOrVariable('AWS_BEARER_TOKEN_BEDROCK', bearerToken ?? '', parameters.path, draft)]
      : [];
  const upstream = draft.addUpstream('bedrock', {
    vendor: 'bedrock-anthropic',
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com/anthropic/v1`,
    keys,
    ...(awsCredentials !== undefined && { credentials: { aws: awsCredentials } }),
    from: parameters.path,
  });
  return { upstream, model };
}

export function importVertex(
  parameters: ImportedObject,
  model: string,
  draft: ImportDraft,
): DeploymentTarget | undefined {
  const project = parameters.readText('vertex_project') ?? parameters.readText('vertex_ai_project');
  const location = parameters.readText('vertex_location') ?? parameters.readText('vertex_ai_location');
  const file = parameters.readText('vertex_credentials');
  const publisher = findPublisher(model);
  if (publisher === undefined)
    return draft.note(parameters.pathOf('model'), 'Daypass has presets only for Gemini and Claude on Vertex AI');
  if (![project, location].every((name) => /^[a-z][a-z0-9-]*$/.test(name ?? '')))
    return draft.note(parameters.path, 'the upstream URL needs literal values of vertex_project and vertex_location');
  if (file !== undefined && (file.trimStart().startsWith('{') || parseVariable(file) !== undefined))
    return draft.note(
      parameters.pathOf('vertex_credentials'),
      'Daypass reads Google credentials from a file: write it, and add the upstream',
    );
  const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
  const upstream = draft.addUpstream('vertex', {
    vendor: publisher === 'google' ? 'vertex' : 'vertex-anthropic',
    baseUrl: `https://${host}/v1/projects/${project}/locations/${location}/publishers/${publisher}`,
    keys: [],
    credentials: { google: file === undefined ? {} : { key_file: file } },
    from: parameters.path,
  });
  return { upstream, model };
}

function findPublisher(model: string): 'google' | 'anthropic' | undefined {
  if (model.startsWith('gemini')) return 'google';
  return model.startsWith('claude') ? 'anthropic' : undefined;
}

function addSecretOrVariable(name: string, value: string, path: string, draft: ImportDraft): Reference {
  const variable = parseVariable(value) ?? (value === '' ? name : undefined);
  return variable === undefined ? draft.addSecret(name, value, path) : draft.addVariable(variable, path);
}

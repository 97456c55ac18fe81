import type { ImportDraft, Reference } from '../draft.ts';
import type { ImportedObject } from '../members.ts';
import { environmentName } from './litellm-providers.ts';

interface Target {
  readonly upstream: string;
  readonly model: string;
}

/** Imports Claude on Amazon Bedrock. Its Messages endpoint uses the same ids. Source: AWS, "Inference using Anthropic Messages API". */
export function bedrock(parameters: ImportedObject, model: string, draft: ImportDraft): Target | undefined {
  const path = parameters.at('model');
  if (!/(?:^|\.)anthropic\./.test(model))
    return draft.note(
      path,
      'only Claude of Bedrock has one endpoint under the same name here; add the others yourself',
    );
  const region = parameters.text('aws_region_name');
  if (region === undefined || environmentName(region) !== undefined || !/^[a-z]{2}(?:-[a-z]+)+-\d$/.test(region))
    return draft.note(parameters.at('aws_region_name'), 'the URL of the upstream needs the region itself');
  const bearer = parameters.text('api_key');
  const [id, secret, session] = ['aws_access_key_id', 'aws_secret_access_key', 'aws_session_token'].map((name) => {
    const value = parameters.text(name);
    return value === undefined ? undefined : secretOf(name, value, parameters.at(name), draft);
  });
  const aws =
    id === undefined || secret === undefined
      ? undefined
      : { region, access_key_id: id, secret_access_key: secret, session_token: session };
  const keys = aws === undefined ? [secretOf('AWS_BEARER_TOKEN_BEDROCK', bearer ?? '', parameters.path, draft)] : [];
  const upstream = draft.addUpstream('bedrock', {
    vendor: 'bedrock-anthropic',
    baseUrl: `https://bedrock-runtime.${region}.amazonaws.com/anthropic/v1`,
    keys,
    ...(aws !== undefined && { credentials: { aws } }),
    from: parameters.path,
  });
  return { upstream, model };
}

/** Imports Gemini and Claude on Google Vertex AI. */
export function vertex(parameters: ImportedObject, model: string, draft: ImportDraft): Target | undefined {
  const project = parameters.text('vertex_project') ?? parameters.text('vertex_ai_project');
  const location = parameters.text('vertex_location') ?? parameters.text('vertex_ai_location');
  const file = parameters.text('vertex_credentials');
  const publisher = model.startsWith('gemini') ? 'google' : model.startsWith('claude') ? 'anthropic' : undefined;
  if (publisher === undefined)
    return draft.note(parameters.at('model'), 'only Gemini and Claude of Vertex AI have presets here');
  if (![project, location].every((name) => /^[a-z][a-z0-9-]*$/.test(name ?? '')))
    return draft.note(parameters.path, 'the URL of the upstream needs vertex_project and vertex_location themselves');
  if (file !== undefined && (file.trimStart().startsWith('{') || environmentName(file) !== undefined))
    return draft.note(
      parameters.at('vertex_credentials'),
      'credentials of Google are a file here: write it, and add the upstream',
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

function secretOf(name: string, value: string, path: string, draft: ImportDraft): Reference {
  const variable = environmentName(value) ?? (value === '' ? name : undefined);
  return variable === undefined ? draft.addSecret(name, value, path) : draft.addVariable(variable, path);
}

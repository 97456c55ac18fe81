/** Required and optional `config` fields of @hapi/bell providers. All other providers ignore `config`. */
export const providerConfig: Readonly<
  Record<string, { readonly required: readonly string[]; readonly optional: readonly string[] }>
> = {
  auth0: { required: ['domain'], optional: [] },
  cognito: { required: ['uri'], optional: [] },
  okta: { required: ['uri'], optional: ['authorizationServerId'] },
  phabricator: { required: ['uri'], optional: [] },
  pingfed: { required: ['uri'], optional: [] },
  salesforce: { required: [], optional: ['uri', 'extendedProfile', 'identityServiceProfile'] },
  stripe: { required: [], optional: ['express'] },
};

/** Providers of @hapi/bell 13.2.0 that we do not support, and why. */
export const unusableProviders: Readonly<Record<string, string>> = {
  googleplus: 'ended in 2019',
  instagram: 'ended its API for sign-ins in 2020',
  live: 'was replaced by azure',
  meetup: 'ended the API that bell calls (in 2022)',
  nest: 'does not identify the user',
  pinterest: 'ended version 1 of its API',
  tumblr: 'identifies people only by names that they can change',
};

/** What @hapi/bell requires, and takes besides, in `config` of a provider; it ignores what others are given. */
export const providerConfig: Readonly<
  Record<string, { readonly required: readonly string[]; readonly optional: readonly string[] }>
> = {
  auth0: { required: ['domain'], optional: [] },
  cognito: { required: ['uri'], optional: [] },
  okta: { required: ['uri'], optional: ['authorizationServerId'] },
  phabricator: { required: ['uri'], optional: [] },
  salesforce: { required: [], optional: ['uri', 'extendedProfile', 'identityServiceProfile'] },
  stripe: { required: [], optional: ['express'] },
};

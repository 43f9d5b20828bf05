import type { Problem, Report } from './report.ts';

/** The scopes of manifest.yml, and what doesn't work without each. */
export const SCOPES = {
  commands: { isRequired: true, lost: 'users don’t have /vps' },
  'chat:write': { isRequired: true, lost: 'nothing can be posted' },
  'app_mentions:read': { isRequired: true, lost: 'commands by mention aren’t answered' },
  'im:history': { isRequired: true, lost: 'commands by direct message aren’t answered' },
  'users:read': {
    isRequired: false,
    lost: 'workspace admins aren’t owners, and roles of user groups and channels don’t count',
  },
  'usergroups:read': { isRequired: false, lost: 'user groups can’t have roles' },
  'channels:read': {
    isRequired: false,
    lost: 'nothing is announced in public channels, and none can be chosen for approvals',
  },
  'groups:read': {
    isRequired: false,
    lost: 'nothing is announced in private channels, and none can be chosen for approvals',
  },
} as const satisfies Readonly<Record<string, { readonly isRequired: boolean; readonly lost: string }>>;

export type Scope = keyof typeof SCOPES;

/** The scopes that the token has; undefined where Slack didn't say. */
export type Granted = readonly string[] | undefined;

/** Compares the token's scopes with those of the manifest. */
export function checkScopes(granted: Granted, report: Report): void {
  if (granted === undefined) {
    const text =
      'Slack didn’t say which scopes the token has. Let no proxy remove the header X-OAuth-Scopes.';
    report.warning('scopes', { code: 'scopes_unknown', text });
    return;
  }
  for (const [scope, { isRequired, lost }] of Object.entries(SCOPES)) {
    if (granted.includes(scope)) report.ok(`scope ${scope}`, 'granted.');
    else if (isRequired) report.failed(`scope ${scope}`, missing(`missing, so ${lost}. Add it`));
    else report.warning(`scope ${scope}`, missing(`missing, so ${lost}. If you want that, add it`));
  }
  const others = granted.filter((scope) => scope !== '' && !Object.hasOwn(SCOPES, scope));
  if (others.length === 0) return;
  report.warning('scopes', {
    code: 'extra_scopes',
    text: `The app also has ${others.join(', ')}, which it doesn’t use. Remove what the manifest doesn’t ask for, and reinstall the app.`,
  });
}

function missing(sentence: string): Problem {
  const text = `${sentence} under OAuth & Permissions in the app’s settings, and reinstall the app.`;
  return { code: 'missing_scope', text };
}

/** Whether a call is worth trying: if Slack didn't list the scopes, the call itself shows whether it works. */
export function mayUse(granted: Granted, scope: Scope): boolean {
  return granted === undefined || granted.includes(scope);
}

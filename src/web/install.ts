import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InstallEnd, NewInstallation } from '../installations/installations.ts';
import type { Installer } from '../slack/tokens.ts';
import { answer, answerPage, escapeHtml } from './page.ts';

const INSTALL = '/slack/install';
const REDIRECT = '/slack/oauth_redirect';

export function isInstallPath(path: string): boolean {
  return path === INSTALL || path === REDIRECT;
}

/** Serves an install: sends the browser to Slack, and shows the result when it comes back. */
export async function serveInstall(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  installer: Installer,
): Promise<void> {
  // Previews and scanners send HEAD requests, which must not start an install.
  if (request.method !== 'GET')
    return answer(response, 405, 'text/plain', 'not possible\n', { allow: 'GET' });
  if (path === REDIRECT) {
    const end = await installer.finish(request, response);
    if (end.kind === 'installed') return showInstalled(response, end.installation);
    return showFailure(response, failureOf(end));
  }
  const { url, cookie } = await installer.begin();
  answer(response, 302, 'text/plain; charset=utf-8', 'See Slack.\n', { location: url, 'set-cookie': cookie });
}

interface Failure {
  readonly status: number;
  readonly title: string;
  readonly words: string;
  /** Whether trying again can't help. */
  readonly isFinal?: boolean;
}

function failureOf(end: Exclude<InstallEnd, { readonly kind: 'installed' }>): Failure {
  switch (end.kind) {
    case 'not_allowed': {
      const place = end.name === '' ? 'This workspace' : `The Slack workspace <b>${escapeHtml(end.name)}</b>`;
      const words = `${place} isn’t allowed to use this app. Ask the person who runs the app to add it to <code>ALLOWED_WORKSPACES</code>. Nothing was stored.`;
      return { status: 403, title: 'This workspace isn’t allowed', words, isFinal: true };
    }
    case 'refused': {
      // Only Slack's codes are shown, which are plain words.
      const code = /^[a-z_]{1,60}$/.test(end.error) ? ` (<code>${end.error}</code>)` : '';
      const words = `Slack didn’t complete the install${code}.`;
      // Without a code, the browser wasn't sent by Slack.
      return { status: end.error === 'missing_code' ? 400 : 502, title: 'The app wasn’t installed', words };
    }
    case 'denied':
      return {
        status: 403,
        title: 'The app wasn’t installed',
        words: 'You canceled the install in Slack. Nothing was changed.',
      };
    case 'state_unusable':
      return {
        status: 400,
        title: 'This install has expired',
        words:
          'An install works only once, within ten minutes, and in the browser where it was started. If the app is already in Slack, there’s nothing more to do.',
      };
    case 'unsaved':
      return {
        status: 500,
        title: 'The install couldn’t be saved',
        words: 'Slack approved the install, but the app couldn’t save it.',
      };
  }
}

function showFailure(response: ServerResponse, { status, title, words, isFinal = false }: Failure): void {
  // The link is relative, since a proxy may serve the app below a path of its own.
  const again = isFinal ? '' : `<p><a href="install">Install the app again</a></p>`;
  answerPage(response, status, title, `<p>${words}</p>${again}`, `Error: ${title}`);
}

function showInstalled(response: ServerResponse, { id, name, isOrg }: NewInstallation): void {
  const place = name === '' ? (isOrg ? 'your organization' : 'your workspace') : name;
  const where = isOrg
    ? `<p>It’s installed for the whole organization <b>${escapeHtml(place)}</b>. An org admin can now add it to workspaces. Each of them connects its own hosting account.</p>`
    : `<p>It’s installed in the Slack workspace <b>${escapeHtml(place)}</b>.</p>`;
  const next = `<p>Next, <a href="https://app.slack.com/client/${encodeURIComponent(id)}">open Slack</a> and run <code>/vps connect</code> to connect the hosting account. Owners can do that: the user who first installed the app, the workspace’s admins, and anyone they make an owner.</p>
<p>You can close this page.</p>`;
  answerPage(response, 200, `vps is ready in ${place}`, `${where}${next}`);
}

import type { Report } from './report.ts';
import type { WebApi } from './web-api.ts';

/** Asks the app itself whether it runs, by the address at which Slack and users reach it. */
export async function checkPublicAddress(
  publicUrl: string | undefined,
  api: WebApi,
  report: Report,
): Promise<void> {
  const check = 'public address';
  if (publicUrl === undefined) return report.skipped(check, 'PUBLIC_URL isn’t set.');
  const url = `${publicUrl}/livez`;
  const page = await api.get(url);
  if ('kind' in page) {
    // Some networks don't let a machine reach its own public address, so this proves nothing.
    const text = `${url} can’t be reached from this machine (${page.why.replaceAll('_', ' ')}). Check the DNS name, the proxy with TLS and the firewall, or open it from elsewhere.`;
    return report.warning(check, { code: page.why, text });
  }
  if (page.status === 200 && page.text.trim() === 'ok') return report.ok(check, `${url} answers.`);
  const { status } = page;
  const code = `status_${status}`;
  const text =
    status >= 500
      ? `${url} answers ${status}: start the app, and check where the proxy forwards to.`
      : `${url} is answered by something other than the app (HTTP ${status}). Check PUBLIC_URL and where the proxy forwards to.`;
  report.failed(check, { code, text });
}

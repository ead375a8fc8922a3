// The platforms that a VSIX is made for: VS Code's name for each, uv's name, and how its native modules are called.
// Linux wheels ask for glibc 2.28, as VS Code itself does.

export const PYTHONS = ['3.10', '3.11', '3.12', '3.13', '3.14'];

export const TARGETS = {
  'linux-x64': { platform: 'x86_64-manylinux_2_28', native: (tag) => `cpython-${tag}-x86_64-linux-gnu.so` },
  'linux-arm64': { platform: 'aarch64-manylinux_2_28', native: (tag) => `cpython-${tag}-aarch64-linux-gnu.so` },
  'darwin-x64': { platform: 'x86_64-apple-darwin', native: (tag) => `cpython-${tag}-darwin.so` },
  'darwin-arm64': { platform: 'aarch64-apple-darwin', native: (tag) => `cpython-${tag}-darwin.so` },
  'win32-x64': { platform: 'x86_64-pc-windows-msvc', native: (tag) => `cp${tag}-win_amd64.pyd` },
};

export const here = `${process.platform}-${process.arch}`;

/** The targets that the command line asks for; this machine's without one. */
export function targets(asked) {
  if (asked === 'all') return Object.keys(TARGETS);
  const names = (asked ?? here).split(',');
  for (const name of names) {
    if (!(name in TARGETS)) {
      throw new Error(`no such target: ${name} (all, ${Object.keys(TARGETS).join(', ')})`);
    }
  }
  return names;
}

"""语言服务器的文字：简体中文。"""

MESSAGES = {
    # Diagnostics
    "lsp.hint": "此处抛出异常；原因在第 {line} 行",
    "lsp.hint-iteration": "此处在第 {iteration} 次迭代抛出异常；原因在第 {line} 行",
    "lsp.hint-elsewhere": "此处抛出异常；原因在 {file} 第 {line} 行",
    "lsp.hint-iteration-elsewhere": "此处在第 {iteration} 次迭代抛出异常；原因在 {file} 第 {line} 行",
    "lsp.syntax": "当前内容未被分析：{reason}",
    # Code actions
    "lsp.fix-all": "修复 Loopgrad 能安全修复的所有问题",
    "lsp.explain": "解释 {code}",
    "lsp.modified": "文档在此期间已更改；请重新请求修复",
    "lsp.confirm": "在设备上确认",
    # Hovers
    "lsp.line": "第 {line} 行",
    "lsp.hover-no-rule": "Loopgrad 没有规则 {code}",
    "lsp.hover-carries": "`{name}` 带有在第 {line} 行建立的计算图。",
    "lsp.hover-carries-iteration": "`{name}` 带有在第 {line} 行、第 {iteration} 次迭代建立的计算图。",
    # Commands
    "lsp.checking-workspace": "Loopgrad：正在检查工作区",
    "lsp.progress": "{done} / {total} 个文件",
    "lsp.not-open": "{uri} 没有打开",
    "lsp.traceback-none": "这段文字中没有回溯信息",
    "lsp.traceback-no-file": "回溯信息中的文件都不在此工作区",
    "lsp.traceback-no-finding": "异常在此处抛出；Loopgrad 在此文件中没有找到能解释它的问题",
    "lsp.traceback-found": "原因是第 {line} 行的 {code}",
    # The log
    "lsp.failed": "Loopgrad 自身出错，请报告此问题：{reason}",
    "lsp.not-analysed": "无法分析 {path}：{reason}",
    "lsp.partial": "{path}:{line}：只分析了一部分：{reason}",
    "lsp.problem": "{path}:{line}：{reason}",
}

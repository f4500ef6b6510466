(case)
